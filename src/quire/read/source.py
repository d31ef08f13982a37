"""Bytes to text, and text to ``Source``.

Nothing is stripped or normalised: a byte order mark stays character 0 and line ends stay as they are, so that
positions in the text are positions in the file.
"""

import codecs
import errno
import os
import stat
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any

from quire.errors import InputError, UndecodableError, invalid_value
from quire.model.document import BOM, Finding, Source, Syntax
from quire.model.offsets import lines_at
from quire.model.page_markers import NOTEBOOK, after_first_marker, find_markers
from quire.model.substitutions import NO_SUBSTITUTIONS, used_variables
from quire.model.trees import OnUndecodable
from quire.model.validation import check
from quire.read.file_endings import MARKDOWN_EXTENSIONS
from quire.read.frontmatter import split
from quire.read.notebook import notebook_text

_MARKDOWN = tuple(MARKDOWN_EXTENSIONS)
CONVERT = "convert the file to UTF-8"  # the advice for undecodable bytes

_FEW = 8  # so many undecodable characters make no binary file
MOST_BYTES = 262_144  # the size limit of configuration files
NOT_REGULAR = "not a regular file; make it one, or leave it out"

# These codecs keep the byte order mark as a character; "utf-16" would drop it.
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_REASONS = {
    errno.ENOENT: ("does not exist", "check the path, or whether it was removed meanwhile"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), ("permission denied", "make it readable")),
    errno.EISDIR: ("is a directory", "name a file in it"),
}
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(file: str | Path, most: int = -1) -> bytes:
    """The bytes of a regular file, or the first ``most``: opening a pipe would block, and a device has no end."""
    descriptor = os.open(file, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, NOT_REGULAR, str(file))
        with FileIO(descriptor, closefd=False) as stream:
            return stream.read(most)
    finally:
        os.close(descriptor)


def read_file(
    path: Path, name: str, errors: OnUndecodable = "strict", encoding: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file, and findings about its decoding; messages call the file ``name``."""
    try:
        data = read_bytes(path)
    except (OSError, ValueError) as error:
        raise unread(name, error) from error
    return decode(data, name, errors, encoding)


def read_configuration(file: Path) -> bytes:
    """The bytes of a quire.toml or an ignore file; OSError if it cannot be opened, InputError if it is large."""
    data = read_bytes(file, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(str(file), f"larger than {MOST_BYTES // 1024} KB", "shorten it")
    return data


def decode(
    data: bytes, name: str, errors: OnUndecodable = "strict", encoding: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """Decode UTF-8, or UTF-16 with a byte order mark, or the ``encoding``. A binary file is an InputError."""
    check("errors", errors, OnUndecodable)
    encoding = encoding or next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), "utf-8")
    error: UnicodeDecodeError | None = None
    try:
        text = data.decode(encoding)
    except LookupError as unknown:
        raise invalid_value("encoding", encoding, "must be one that Python has, such as 'latin-1'") from unknown
    except UnicodeDecodeError as undecodable:
        text, error = data.decode(encoding, "replace"), undecodable
    bad = text.count("\0") + text.count("\ufffd") if error or "\0" in text else 0
    if bad > _FEW and bad * 4 > len(text):
        advice = "leave it out, or set encoding if it is a text in another encoding"
        raise InputError(name, "is binary: much of it is NUL or cannot be decoded", advice)
    if error:
        before = data[: error.start].decode(encoding)
        line = lines_at(before, [len(before)])[0]
        if errors == "strict":
            problem = f"byte offset {error.start}: not {encoding.upper()} ({error.reason})"
            advice = f'{CONVERT}, or set errors to "replace"'
            raise UndecodableError(name, problem, line, error.start, advice) from error
        message = f"undecodable bytes became U+FFFD, the first at byte offset {error.start}; {CONVERT}"
        return text, (Finding(code="undecodable", path=name, line=line, message=message),)
    return (notebook_text(text, name) if name.lower().endswith(NOTEBOOK) and data else text), ()


def unread(path: str, error: OSError | ValueError) -> InputError:
    """The error that says why a path cannot be read."""
    if not isinstance(error, OSError):
        return InputError(path, "the path contains a NUL or an undecodable character", "check it")
    return InputError(path, *_REASONS.get(error.errno or 0, (f"cannot be read: {error.strerror or error}",)))


def unreadable(error: OSError | ValueError) -> str:
    """Why a path cannot be read and what to do, as text."""
    return unread("", error).reason


def make_source(
    text: str,
    path: str | None = None,
    syntax: Syntax | None = None,
    dialect: str | None = None,
    substitutions: Mapping[str, Any] = NO_SUBSTITUTIONS,
    *,
    page_marker: str = "",
) -> Source:
    """A Source of ``text``. Markdown, by ``syntax`` or by the path's ending, has its front matter taken off."""
    path = path.replace(os.sep, "/") if path is not None else None
    if syntax is None:
        syntax = "markdown" if path is None or path.lower().endswith(_MARKDOWN) else "text"
    markers = find_markers(text, page_marker)
    if syntax == "text":
        start = int(text.startswith(BOM))
        return Source(text=text, path=path, syntax=syntax, body_start=start, page_marker=page_marker, markers=markers)
    top = split(text, path if path is not None else "<text>")
    return Source(
        text=text,
        path=path,
        syntax=syntax,
        dialect=dialect,
        page_marker=page_marker,
        markers=markers,
        substitutions=used_variables(text, substitutions, top.data),
        frontmatter=top.data,
        body_start=after_first_marker(text, markers, top.body_start),
        malformed_frontmatter=top.malformed_frontmatter,
        findings=top.findings,
    )
