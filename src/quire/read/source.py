"""Bytes to text, and text to ``Source``. ``discover`` says which files, ``parsing`` takes the Source on.

Nothing is stripped or normalised: a byte order mark stays character 0 and line ends stay as they are, so that
positions in the text are positions in the file.
"""

from __future__ import annotations

import codecs
import errno
import os
from pathlib import Path
from typing import Literal, get_args

from quire.errors import InputError, OptionError, UndecodableError
from quire.model import BOM, Finding, Source, Syntax
from quire.offsets import lines_at

MARKDOWN_EXTENSIONS = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd", ".rmd"})
"""The endings of file names, in lower case, that mean Markdown."""

_MARKDOWN = tuple(MARKDOWN_EXTENSIONS)

OnUndecodable = Literal["strict", "replace"]
"""What becomes of bytes that cannot be decoded: an error, or U+FFFD and a warning."""
_ON_UNDECODABLE = get_args(OnUndecodable)

_REASONS = {
    errno.ENOENT: "does not exist; check the path, or whether it was removed meanwhile",
    errno.EACCES: "permission denied; make it readable",
    errno.EPERM: "permission denied; make it readable",
    errno.EISDIR: "is a directory; name a file in it",
    errno.ENOTDIR: "a part of the path is not a directory; check the path",
    errno.ENAMETOOLONG: "the name is too long for this system; shorten it",
    errno.ELOOP: "its symbolic links lead in a circle; correct them",
}


def read_file(path: Path, name: str, errors: OnUndecodable = "strict") -> tuple[str, tuple[Finding, ...]]:
    """The text of a file, and what decoding found; ``name`` is what messages call it."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        # PermissionError is what Windows says of directories; Path.is_dir may raise another one.
        is_directory = isinstance(error, PermissionError) and os.path.isdir(path)  # noqa: PTH112
        raise InputError(name, _REASONS[errno.EISDIR] if is_directory else unreadable(error)) from error
    return decode(data, name, errors)


def decode(data: bytes, name: str, errors: OnUndecodable = "strict") -> tuple[str, tuple[Finding, ...]]:
    """The text that ``data`` is, from UTF-8, or from UTF-16 if a byte order mark says so."""
    if errors not in _ON_UNDECODABLE:
        raise OptionError(f"errors={errors!r} is not possible; choose from: {', '.join(map(repr, _ON_UNDECODABLE))}")
    encoding = _encoding(data)
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        line = _line_of(data, error)
        if errors == "strict":
            raise UndecodableError(name, _undecodable(error), line, error.start) from error
        text = data.decode(encoding, "replace")
        return text, (_replaced(data, text, name, error, line),)


def unreadable(error: OSError | ValueError) -> str:
    """Why a path cannot be read, and what to do."""
    if not isinstance(error, OSError):
        return "the path holds a NUL or undecodable character; check it"
    return _REASONS.get(error.errno or 0) or f"cannot be read: {error.strerror or error}"


def syntax_of(path: str | None, override: Syntax | None = None) -> Syntax:
    """The syntax that was asked for, else by the extension; text without a path is Markdown."""
    if override is not None:
        return override
    if path is None or path.lower().endswith(_MARKDOWN):
        return "markdown"
    return "text"


def make_source(
    text: str, path: str | None = None, syntax: Syntax | None = None, findings: tuple[Finding, ...] = ()
) -> Source:
    """A Source of ``text``, its front matter taken off if it is Markdown; ``findings`` are those of decoding."""
    path = path.replace(os.sep, "/") if path is not None else None
    chosen = syntax_of(path, syntax)
    if chosen == "text":
        return Source(text=text, path=path, syntax=chosen, body_start=int(text.startswith(BOM)), findings=findings)
    from quire.read.frontmatter import split  # noqa: PLC0415  a search that finds nothing changed parses no document

    top = split(text, path if path is not None else "<text>")
    return Source(
        text=text,
        path=path,
        syntax=chosen,
        frontmatter=top.data,
        body_start=top.body_start,
        opaque=top.opaque,
        findings=findings + top.findings,
    )


def _encoding(data: bytes) -> str:
    # The names with a byte order keep the mark as a character; "utf-16" would drop it.
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    return "utf-16-be" if data.startswith(codecs.BOM_UTF16_BE) else "utf-8"


def _line_of(data: bytes, error: UnicodeDecodeError) -> int:
    before = data[: error.start].decode(error.encoding)
    return lines_at(before, [len(before)])[0]


def _undecodable(error: UnicodeDecodeError) -> str:
    encoding = "UTF-8" if error.encoding == "utf-8" else "UTF-16, as its byte order mark says"
    return (
        f"byte offset {error.start}: not {encoding} ({error.reason}); "
        'convert the file to UTF-8, or read it with errors="replace"'
    )


def _replaced(data: bytes, text: str, name: str, error: UnicodeDecodeError, line: int) -> Finding:
    # The file may hold U+FFFD of its own.
    count = text.count("\ufffd") - data.decode(error.encoding, "ignore").count("\ufffd")
    places = "1 undecodable place was" if count == 1 else f"{count} undecodable places were"
    message = f"{places} replaced by U+FFFD, the first at byte offset {error.start}; convert the file to UTF-8."
    return Finding(code="undecodable", path=name, line=line, message=message)
