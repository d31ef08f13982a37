"""Everything that quire prints: data to standard output, messages to standard error.

Text from documents passes through ``visible`` (``Paint`` and ``message`` do so): no control character gets through.
"""

import contextlib
import os
import re
import sys
import time
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any, Literal, TextIO

import click
from msgspec import structs

from quire import ISSUES, __version__
from quire.errors import char_width
from quire.model.document import Finding
from quire.model.patterns import pattern

_ORDINARY = ("heading-without-text",)  # findings that healthy documents have, too: one line for all of them
_ESCAPED = {ord(char): f"%{ord(char):02X}" for char in "%\r\n:,"}  # in annotations; a message may have the last two
MOST_WIDE = 72  # how many columns of a table a cell is given at most
MOST_SHOWN = 20  # how many findings or skipped files are listed one by one

_PROGRESS_AFTER = 0.5  # seconds before progress is shown
_PROGRESS_EVERY = 0.1
_BAR = 20  # the columns of the progress bar
_ERASE = "\r\x1b[2K"
_ESCAPE = pattern(r"\x1b\[[0-9;]*m")
_INDENT = pattern(r"\A *(?:(?:[-*+>]|\d+[.)]) +)*")  # the spaces and list markers that a line starts with
_ASCII = str.maketrans(
    {"│": "|", "├": "|", "└": "`", "─": "-", "…": "~", "›": ">", "·": "-", "–": "-", **dict.fromkeys("▏▎▍▌▋▊▉█", "#")}
)  # for quire's own drawing characters where the terminal cannot show them
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # characters that change that of the text after them


@cache
def _pictures() -> dict[int, str]:
    """A picture for each control character; undecodable bytes of file names as the index writes them."""
    pictures = {code: chr(0x2400 + code) for code in range(0x20)} | {ord("\t"): "    ", 0x7F: "\u2421"}
    pictures |= {0xDC00 + byte: f"%{byte:02X}" for byte in range(0x80, 0x100)}
    return pictures | dict.fromkeys((*range(0x80, 0xA0), 0x2028, 0x2029, *_DIRECTIONS), "\ufffd")


def visible(text: str) -> str:
    """``text`` on one line, with control characters replaced, so that an escape sequence has no effect."""
    return text if text.isascii() and text.isprintable() else text.translate(_pictures())


def width(text: str) -> int:
    """The number of columns of ``text``: two for wide characters, none for combining marks."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def clip(text: str, columns: int) -> str:
    """``text``, shortened with an ellipsis to ``columns``."""
    if width(text) <= columns:
        return text
    return text[: bisect_left([*accumulate(map(char_width, text))], columns)] + "…"


def wrap(text: str, columns: int, hang: str = "") -> list[str]:
    """``text`` in rows of at most ``columns``, broken at spaces only; later rows are indented by ``hang`` more."""
    if _shown_width(text) <= columns:
        return [text]
    plain = _ESCAPE.sub("", text)
    before = " " * (len(plain) - len(_INDENT.sub("", plain, count=1))) + hang
    rows = [""]
    for word in re.findall("(?:^ +| {0,2})[^ ]+", text):  # without the padding of tables
        if _ESCAPE.sub("", rows[-1]).strip() and _shown_width(rows[-1] + word) > columns:
            rows.append(before + word.lstrip(" "))
        else:
            rows[-1] += word
    return rows


def _shown_width(text: str) -> int:
    return width(_ESCAPE.sub("", text))


def print_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> None:
    """Print painted cells in columns, each as wide as its widest cell; those in ``right`` are right-aligned."""
    widths = [min(max(map(_shown_width, column)), MOST_WIDE) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for column, (cell, most) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (most - _shown_width(cell))
            cells.append(gap + cell if column in right else cell + gap)
        echo("  ".join(cells).rstrip(" "))


def count_of(number: int, noun: str) -> str:
    """``3 documents``, ``1 document``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def lines_of(first: int, last: int) -> str:
    """``line 3``, ``lines 3-7``."""
    return f"line {first}" if first == last else f"lines {first}-{last}"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is a terminal; None is a stream that the shell closed."""
    return stream is not None and stream.isatty()


class Choices:
    """What the user chose for this call, by options that every command has: ``--color``, ``-q`` and ``-v``."""

    colour = "auto"
    is_quiet = False
    is_verbose = False


def terminal_size(stream: TextIO, dimension: Literal["columns", "lines"], default: int) -> int:
    """The columns or lines of the terminal: what COLUMNS or LINES says, else its own size, else ``default``."""
    try:
        named = os.environ.get(dimension.upper())
        return max(int(named or getattr(os.get_terminal_size(stream.fileno()), dimension)), 0) or default
    except (OSError, ValueError):
        return default


class Paint:
    """Makes a text safe for a terminal, and colours it as ``--color`` says, else on a terminal that has colours."""

    def __init__(self, stream: TextIO) -> None:
        is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._is_on = is_terminal(stream) and not is_plain
        if Choices.colour != "auto" or os.environ.get("FORCE_COLOR"):
            self._is_on = Choices.colour != "never"
        self.path = partial(self._painted, fg="cyan")
        self.title = partial(self._painted, bold=True)
        self.match = partial(self._painted, fg="red", bold=True)
        self.number = partial(self._painted, fg="green")
        self.warning = partial(self._painted, fg="yellow")
        self.faint = partial(self._painted, dim=True)

    def _painted(self, text: str, **style: Any) -> str:
        text = visible(text)
        return click.style(text, **style) if self._is_on and text else text


def echo(text: str = "", *, wraps: bool = True) -> None:
    """Print a line of data to standard output; on a terminal, a long line is wrapped."""
    Progress.clear()
    sys.stdout.write(_printable(text, sys.stdout, wraps=wraps) + "\n")


def note(text: str = "", *, is_error: bool = False) -> None:
    """Print a line to standard error, below the data so far; with ``-q`` only if it is about an error."""
    if is_error or not Choices.is_quiet:
        sys.stdout.flush()
        _write_error(text)


def _write_error(text: str) -> None:
    Progress.clear()
    try:
        if sys.stderr is not None:
            click.echo(_printable(text, sys.stderr), err=True)
    except OSError:
        discard(sys.stderr)


def message(text: str) -> None:
    """Print ``quire: text`` to standard error."""
    _write_error(f"quire: {visible(text)}")


def can_ask() -> bool:
    """Whether the user can answer a question."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def confirm(question: str) -> bool:
    """Ask the user on standard error."""
    Progress.clear()
    return click.confirm("\n".join(map(visible, question.split("\n"))), err=True)


def discard(stream: TextIO) -> None:
    """Drop the unwritten rest of ``stream``, so that Python does not fail over it at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _printable(text: str, stream: TextIO, *, wraps: bool = True) -> str:
    """``text`` in the encoding of ``stream``, wrapped on a terminal."""
    if wraps and is_terminal(stream):
        columns = terminal_size(stream, "columns", 80)
        text = "\n".join(row for line in text.split("\n") for row in wrap(line, columns, "  "))
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text if encoding.lower().startswith("utf") else text.translate(_ASCII)
        return text.encode(encoding, "replace").decode(encoding)
    return text


def show_findings(findings: Sequence[Finding], *, hint: str = "") -> None:
    """Print the first findings and the number of the others; ``hint`` tells where to see those."""
    hidden = () if Choices.is_verbose else _ORDINARY
    ordinary = [finding for finding in findings if finding.code in hidden]
    others = [finding for finding in findings if finding.code not in hidden]
    most = len(others) if Choices.is_verbose else MOST_SHOWN
    for finding in others[:most]:
        show_finding(finding)
    if ordinary:
        first = ordinary[0]
        rest = f", and {len(ordinary) - 1:,} more like it; -v lists them" if len(ordinary) > 1 else ""
        show_finding(structs.replace(first, message=f"{first.message.rstrip('.')}{rest}"))
    if (more := len(others) - most) > 0:
        note(Paint(sys.stderr).faint(f"… and {count_of(more, 'more finding')}{f'; {hint}' if hint else ''}"))


def show_finding(finding: Finding, *, is_error: bool = False) -> None:
    """Print a finding to standard error."""
    note(finding_line(finding, Paint(sys.stderr)), is_error=is_error)


def finding_line(finding: Finding, paint: Paint) -> str:
    """``path:line: message [code]``."""
    position = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{paint.path(position)}: {visible(finding.message)} {paint.faint(f'[{finding.code}]')}"


def write_findings(findings: Sequence[Finding], form: str, records: Sequence[Any] | None = None) -> None:
    """Print findings to standard output, as ``--format`` says; ``records`` are what the JSON has instead of them."""
    if form == "json":
        write_json(list(map(structs.asdict, findings)) if records is None else records)
    elif form == "sarif":
        write_json(_sarif(findings))
    else:
        line = _annotation if form == "github" else partial(finding_line, paint=Paint(sys.stdout))
        for finding in findings:
            echo(line(finding), wraps=form == "text")


def _annotation(finding: Finding) -> str:
    file = finding.path.translate(_ESCAPED)
    text = finding.message.translate({code: _ESCAPED[code] for code in map(ord, "%\r\n")})
    return f"::error file={file},line={finding.line or 1},title={finding.code}::{text}"


def _sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    from urllib.parse import quote  # noqa: PLC0415  only for code scanning

    results = []
    for finding in findings:
        uri = quote(finding.path.replace("\\", "/").removeprefix("./"))
        location = {"artifactLocation": {"uri": uri}, "region": {"startLine": finding.line or 1}}
        record = {"ruleId": finding.code, "level": "error", "message": {"text": finding.message}}
        results.append({**record, "locations": [{"physicalLocation": location}]})
    rules = [{"id": code} for code in dict.fromkeys(finding.code for finding in findings)]
    about = {"name": "quire", "version": __version__, "informationUri": ISSUES.removesuffix("/issues")}
    run = {"tool": {"driver": {**about, "rules": rules}}, "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def write_json(value: Any) -> None:
    """Print one JSON value on one line."""
    _write(_encoded(value) + b"\n")


def write_json_lines(values: Iterable[Any]) -> None:
    """Print each value on a line of its own."""
    for value in values:
        write_json(value)


def write_json_array(values: Iterable[Any]) -> None:
    """Print one JSON array; it is closed, and so valid, even if ``values`` raises an error."""
    before, end = b"[\n", b"[]\n"
    try:
        for value in values:
            _write(before + _encoded(value))
            before, end = b",\n", b"\n]\n"
    finally:
        _write(end)


def _encoded(value: Any) -> bytes:
    from quire.output.chunk_json import to_json  # noqa: PLC0415  takes as long to load as a readable view takes in all

    return to_json(value)


def _write(data: bytes) -> None:
    Progress.clear()
    stream = getattr(sys.stdout, "buffer", None)  # the text layer may have another encoding than UTF-8
    if stream is None:  # a caller's own text stream
        sys.stdout.write(data.decode())
        return
    left = memoryview(data)
    while left:  # without a buffer (PYTHONUNBUFFERED) one call may write only a part
        left = left[stream.write(left) :]


def progress_line(done: int, total: int, seconds: float, path: str, columns: int) -> str:
    """A bar, how much is done, the time left, and the end of the path that is next."""
    filled = _BAR * done // max(total, 1)
    parts = [f"{'█' * filled}{'·' * (_BAR - filled)} {done:,}/{total:,}"]
    if done * 50 >= max(total, 1) and seconds >= 1:  # earlier, a few are no estimate
        left = round((total - done) * seconds / done)
        parts.append(f"{left // 60}:{left % 60:02} left")
    line, name = "  ".join(parts), visible(path)
    room = max(columns - width(line) - 2, 8)
    return clip(f"{line}  {name if width(name) <= room else '…' + name[1 - room :]}", columns)


class Progress:
    """Shows on a terminal how far a long run is; the line is erased before anything else is printed, and in the end."""

    _is_shown = False  # of the class: there is one line at most

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + _PROGRESS_AFTER
        self._is_on = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"

    def step(self, done: int, total: int, path: str) -> None:
        """Show that ``path`` is next, after ``done`` others."""
        if self._is_on and (now := time.monotonic()) > self._next:
            self._next = now + _PROGRESS_EVERY
            columns = min(terminal_size(sys.stderr, "columns", 80), 100) - 1
            line = progress_line(done, total, now - self._start, path, columns)
            sys.stderr.write(_ERASE + _printable(line, sys.stderr, wraps=False))
            sys.stderr.flush()
            Progress._is_shown = True

    @staticmethod
    def clear() -> None:
        """Erase the line."""
        if Progress._is_shown:
            Progress._is_shown = False
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
