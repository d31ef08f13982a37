"""Sections from the index as a user sees them: as JSON, as text, a line each. Shared by ``search`` and ``get``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, TextIO

import click

from quire.cli.highlighted import shortened, whole
from quire.cli.output import Paint, count_of, echo, has_colour, is_terminal, terminal_width
from quire.search.records import Hit

_WIDTH = 112
_INDENT = "  "


def record(hit: Hit, file: str, *, explain: bool = False) -> dict[str, Any]:
    """A hit as ``--json`` prints it; ``file`` is where the document is."""
    made: dict[str, Any] = {
        "id": hit.id,
        "score": round(hit.score, 4),
        "title": hit.title,
        "breadcrumb": hit.breadcrumb,
        "breadcrumbLine": hit.breadcrumb_line,
        "tree": hit.tree,
        "path": hit.path,
        "file": file,
        "depth": hit.depth,
        "lines": hit.lines,
        "span": hit.span,
        "byteSpan": hit.byte_span,
        "tokens": hit.tokens,
        "text": hit.text,
        "complete": hit.complete,
        "parts": hit.parts,
        "matchRanges": hit.match_ranges,
        "how": hit.how,
        "constituents": hit.constituents,
    }
    return {**made, "explanation": _camel(hit.explanation)} if explain else made


def _camel(value: Any) -> Any:
    """A value with the names in it as JSON has them elsewhere."""
    if isinstance(value, Mapping):
        return {_camel_name(str(name)): _camel(each) for name, each in value.items()}
    return [_camel(each) for each in value] if isinstance(value, list | tuple) else value


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


class Printer:
    """Shows hits: whole when piped, shortened around the matches on a terminal."""

    def __init__(self, stream: TextIO, *, full: bool = False, as_list: bool = False, explain: bool = False) -> None:
        self._paint = Paint(stream)
        self._mark = _marked if has_colour(stream) else str
        self._indent = _INDENT if is_terminal(stream) else ""
        self._is_whole = full or not is_terminal(stream)
        self._as_list = as_list
        self._explain = explain
        self._room = terminal_width(_WIDTH) - len(_INDENT)

    def show(self, hits: Sequence[Hit], files: Sequence[str]) -> None:
        """Hits, each with the file that it is in."""
        for line in self._lines(hits, files):
            echo(line)

    def plain(self, hits: Sequence[Hit], files: Sequence[str]) -> str:
        """The most that ``show`` writes: as it is when piped."""
        piped = Printer(StringIO(), as_list=self._as_list, explain=self._explain)
        return "".join(f"{line}\n" for line in piped._lines(hits, files))

    def _lines(self, hits: Sequence[Hit], files: Sequence[str]) -> Iterator[str]:
        for number, (hit, file) in enumerate(zip(hits, files, strict=True)):
            if self._as_list:
                yield self._in_one_line(hit, file)
                yield from self._explanation(hit.explanation, 1)
            else:
                yield from [""] if number else []
                yield from self._at_length(hit, file)

    def _in_one_line(self, hit: Hit, file: str) -> str:
        paint = self._paint
        place, crumb = f"{file}:{hit.lines[0]}", hit.breadcrumb_line.removeprefix("> ")
        size = paint.number(count_of(hit.tokens, "token"))
        return f"{paint.place(place)}  {paint.plain(crumb)}  {size}  {paint.faint(f'{hit.score:.2f}')}"

    def _at_length(self, hit: Hit, file: str) -> Iterator[str]:
        """Breadcrumb, place and size, then the text."""
        first, last = hit.lines
        place = f"{file}:{first}" if first == last else f"{file}:{first}-{last}"
        size = count_of(hit.tokens, "token") + ("" if hit.complete else ", the best parts of it")
        yield self._paint.title(hit.breadcrumb_line)
        yield f"{self._paint.place(place)}  {self._paint.number(size)}"
        yield from self._explanation(hit.explanation, 1)
        yield ""
        if self._is_whole:
            shown = whole(hit.text, hit.match_ranges, self._mark)
        else:
            shown = shortened(hit.text, hit.match_ranges, self._mark, self._room)
        for line in shown.lines:
            yield f"{self._indent}{line}" if line else ""
        if shown.left_out:
            yield self._paint.faint(f"{self._indent}… {count_of(shown.left_out, 'line')} left out; --full shows all")

    def _explanation(self, value: Mapping[str, Any], level: int) -> Iterator[str]:
        if self._explain:
            yield from (self._paint.faint(line) for line in explained(value, level))


def explained(value: Any, level: int = 0) -> Iterator[str]:
    """Nested mappings and lists as lines; what holds no more of them in one line."""
    named = isinstance(value, Mapping)
    for name, each in value.items() if named else (("", each) for each in value):
        lead = _INDENT * level + (f"{name}:" if named else "-")
        if not _is_nested(each):
            yield f"{lead} {_text(each)}"
        elif isinstance(each, Mapping) and not any(map(_is_nested, each.values())):
            yield f"{lead} {', '.join(f'{inner} {_text(one)}' for inner, one in each.items())}"
        else:
            yield lead
            yield from explained(each, level + 1)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_is_nested, value)))


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _marked(text: str) -> str:
    return click.style(text, fg="red", bold=True)
