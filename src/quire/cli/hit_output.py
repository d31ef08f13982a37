"""Sections from the index as JSON or text; on a terminal highlighted, and shortened to the lines around matches."""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import attrgetter
from shlex import quote
from typing import Any, Literal

import click
from msgspec.structs import asdict, replace

from quire.cli import output
from quire.cli.command_options import Declared, field_option, flag_name, option
from quire.index.file_records import storable
from quire.index.node import Node
from quire.model.document import Span
from quire.model.offsets import BLANK, LINE_END
from quire.model.patterns import pattern
from quire.model.validation import check, fields
from quire.search.hit import Hit
from quire.search.search_settings import SHARPNESS, SearchSettings

Form = Literal["text", "list", "matches"]  # sections, one line per section, or the lines with matches
Ranges = Callable[[Hit], Sequence[Span]] | None  # where the query's words are in a hit's text; None without a query
_WIDTH = 112
_INDENT = "  "
_WINDOW = 11  # how many consecutive rows of a long text are shown at least, besides the first
_AROUND = 9  # rows of the terminal around the best answer and the list of the others: prompt, head, notes
_PROSE = pattern(r"[ ]{0,3}(?![\w-]+: )(?:[^\W\d_]|[`(\"'])")  # how a line begins that continues a paragraph


def _setting(name: str, *flags: str) -> Any:
    field = fields(SearchSettings)[name]

    def checked(_ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
        return None if value is None else check(flag_name(name), value, field.type)

    return Declared(lambda name, _kind: [field_option(field, name, *flags, callback=checked)])


LIMIT = _setting("limit", "-n")
MAX_TOKENS = _setting("max_tokens")
LIST = option("One line per result: path, breadcrumb, tokens, score.", "--list")


def hit_record(hit: Hit, file: str, phases: Mapping[str, Any] | None = None, ranges: Any = None) -> dict[str, Any]:
    """A hit as ``--json`` prints it; with ``phases`` it is explained. ``ranges`` are those of the query's words."""
    record: dict[str, Any] = {**asdict(hit), "score": round(hit.score, 4), "file": storable(file)}
    del record["explanation"]
    record |= {} if ranges is None else {"match_ranges": ranges}
    record |= {} if phases is None else {"explanation": {**hit.explanation, "phases": phases}}
    return dict(_camel_case(record))


def _camel_case(value: Any) -> Any:
    if isinstance(value, Mapping):
        upper = partial(re.sub, "[_ ](.)", lambda match: match[1].upper())
        return {upper(str(name)): _camel_case(item) for name, item in value.items()}
    return [_camel_case(item) for item in value] if isinstance(value, list | tuple) else value


def _line_spans(text: str, *, whole: bool = False) -> list[Span]:
    """The lines of a text; without ``whole``, blank lines around it are dropped."""
    start = 0 if whole else len(text) - len(text.lstrip("\r\n"))
    end = max(start, len(text.rstrip(BLANK)))
    edges = [start, *(edge for match in LINE_END.finditer(text, start, end) for edge in match.span()), end]
    return [Span(*edges_of_line) for edges_of_line in zip(edges[::2], edges[1::2], strict=True)]


class Highlighted:
    """A text with marked matches, in order and apart from each other."""

    def __init__(self, text: str, matches: Sequence[Span], paint: output.Paint) -> None:
        self.matches, self._text, self._paint = matches, text, paint

    def line(self, span: Span) -> str:
        """A line, safe for a terminal."""
        pieces = []
        start = span.start
        for match in _within(span, self.matches):
            pieces += [_safe(self._text[start : match.start]), self._paint.match(self._text[slice(*match)])]
            start = match.end
        return "".join([*pieces, _safe(self._text[start : span.end])])

    def rows(self, columns: int, most: int) -> list[tuple[str, int]]:
        """The rows of a terminal, each with the number of matches in a line that begins there.

        A line is cut off after ``most`` characters. One that continues a paragraph fills the last row of a wrapped one.
        Fenced code can be copied: no wrapping.
        """
        rows: list[tuple[str, int]] = []
        is_code = is_wrapped = False
        for span in _line_spans(self._text):
            is_code ^= self._text[slice(*span)].lstrip(" >").startswith(("```", "~~~"))
            end = min(span.end, span.start + most)
            line, number = self.line(Span(span.start, end)) + "…" * (end < span.end), len(_within(span, self.matches))
            if is_wrapped and not is_code and _PROSE.match(self._text, span.start):
                before, others = rows.pop()
                line, number = f"{before} {line.lstrip(' ')}", number + others
            first, *more = [line] if is_code else output.wrap(line, columns)
            is_wrapped = bool(more)
            rows += [(first, number), *((row, 0) for row in more)]
        return rows


def best_rows(rows: Sequence[tuple[str, int]], room: int) -> Sequence[int]:
    """The numbers of the rows to show: the first, unless it begins front matter, and those with most matches."""
    window = max(room - 3, _WINDOW)
    if len(rows) <= window + 3:  # a note about two missing rows takes as much space
        return range(len(rows))
    sums = [0, *accumulate(number for _, number in rows)]
    counts = [sums[start + window] - sums[start] for start in range(len(rows) - window + 1)]
    most = max(counts)
    equal = [start for start, number in enumerate(counts) if number == most] if most else [0]
    start = equal[len(equal) // 2]
    return sorted({*range(start, start + window)} | (set() if rows[0][0] in ("---", "+++") else {0}))


def _within(span: Span, spans: Sequence[Span]) -> list[Span]:
    """The parts of ordered ``spans`` that are in ``span``."""
    first = bisect_right(spans, span.start, key=attrgetter("end"))
    last = bisect_left(spans, span.end, key=attrgetter("start"))
    return [Span(max(other.start, span.start), min(other.end, span.end)) for other in spans[first:last]]


def _safe(text: str) -> str:
    """``output.visible``, but with tabs: the text may be code that somebody copies."""
    return "\t".join(map(output.visible, text.split("\t")))


class Printer:
    """Prints hits: complete when piped, shortened around matches on a terminal; ``best`` lists all but the first."""

    def __init__(self, *, full: bool = False, form: Form = "text", ranges: Ranges = None, best: bool = False) -> None:
        is_terminal = output.is_terminal(sys.stdout)
        self._form, self._ranges = form, ranges
        self._has_list = best and form == "text" and not full and is_terminal
        self._room = _WINDOW  # how many rows a text may take
        self._paint = output.Paint(sys.stdout)
        self._columns = min(output.terminal_size(sys.stdout, "columns", 80), _WIDTH) if is_terminal else None
        self._is_full = full or not is_terminal

    def show(
        self, hits: Iterable[tuple[Hit, str]], phases: Mapping[str, Any] | None = None, *, as_json: bool = False
    ) -> None:
        """Print hits with their files, as JSON or text."""
        if as_json:
            records = (hit_record(hit, file, phases, self._ranges and self._ranges(hit)) for hit, file in hits)
            output.write_json_array(records)
            return
        rows = list(hits)
        others = rows[1:] if self._has_list else []
        if self._has_list:
            height = output.terminal_size(sys.stdout, "lines", sys.maxsize)
            self._room = max(height - _AROUND - len(others), _WINDOW)
        for number, (hit, file) in enumerate(rows[: len(rows) - len(others)]):
            if number and self._form == "text":
                output.echo()
            for line in self._lines(hit, file):
                output.echo(line, wraps=False)
        for line in ("", *self._list(others)) if others else ():
            output.echo(line, wraps=False)

    def _list(self, hits: Sequence[tuple[Hit, str]]) -> Iterator[str]:
        paint, columns = self._paint, self._columns or _WIDTH
        places = [f"{file}:{hit.lines[0]}" for hit, file in hits]
        for (hit, _), place in zip(hits, places, strict=True):
            size = output.count_of(hit.tokens, "token")
            title = output.clip(output.visible(hit.title), max(columns - len(place) - len(size) - 4, _WINDOW))
            yield f"{paint.path(place)}  {title}  {paint.number(size)}"
        yield paint.faint(f"more: quire get {quote(output.visible(places[0]))}, or --full for all of them")

    def _lines(self, hit: Hit, file: str) -> Iterator[str]:
        """One line, those with matches as ``grep -n`` prints them, or breadcrumb, path, size and text."""
        paint, (first, last) = self._paint, hit.lines
        explanation = _explanation_lines(hit.explanation) if hit.explanation else ()
        reasons = [row for line in explanation for row in self._rows(paint.faint(f"{_INDENT}{line}"))]
        size = output.count_of(hit.tokens, "token")
        if self._form == "matches":
            text = self._highlighted(hit)
            for number, span in enumerate(_line_spans(hit.text, whole=True), start=first):
                if _within(span, text.matches):
                    yield from self._rows(f"{paint.path(f'{file}:{number}')}: {text.line(span)}")
        elif self._form == "list":
            path, score = paint.path(f"{file}:{first}"), paint.faint(f"{hit.score:.2f}")
            breadcrumb = output.visible(hit.breadcrumb_line.removeprefix("> "))
            yield from self._rows(f"{path}  {breadcrumb}  {paint.number(size)}  {score}")
            yield from reasons
        else:
            path = paint.path(f"{file}:{first}" if first == last else f"{file}:{first}-{last}")
            yield from self._rows(paint.title(hit.breadcrumb_line))
            yield from self._rows(f"{path}  {paint.number(size + ('' if hit.complete else ', not all of it'))}")
            yield from (*reasons, "")
            indent = "" if self._columns is None else _INDENT
            if hit.parts and hit.parts[0].start > hit.span.start:  # not from its beginning
                yield f"{indent}…"
            yield from self._text(hit)
            if not hit.complete:
                more = f"quire get {quote(output.visible(hit.id))} --children"
                yield from ("", paint.faint(f"{indent}{file}:{first}  more: {more}"))

    def _highlighted(self, hit: Hit) -> Highlighted:
        return Highlighted(hit.text, self._ranges(hit) if self._ranges else (), self._paint)

    def _rows(self, line: str) -> list[str]:
        return [line] if self._columns is None else output.wrap(line, self._columns, _INDENT)

    def _text(self, hit: Hit) -> Iterator[str]:
        """The text of a hit; on a terminal indented, with marked matches, wrapped outside of code, and shortened."""
        if self._columns is None:
            yield from (_safe(hit.text[slice(*span)]) for span in _line_spans(hit.text))
            return
        columns = self._columns - len(_INDENT)
        rows = self._highlighted(hit).rows(columns, sys.maxsize if self._is_full else self._room * columns)
        kept = range(len(rows)) if self._is_full else best_rows(rows, self._room)
        for previous, number in pairwise([-1, *kept]):
            if number > previous + 1:
                yield f"{_INDENT}…"
            yield f"{_INDENT}{rows[number][0]}".rstrip(" ")
        if left_out := len(rows) - len(kept):
            yield self._paint.faint(f"{_INDENT}… {output.count_of(left_out, 'line')} left out; --full shows all")


def with_node_ids(hit: Hit, outline: Sequence[Node]) -> Hit:
    """The hit; the merging steps of its explanation name nodes by id, and have no zeros."""
    ids = {node.position: node.id for node in outline}
    steps = []
    for step in hit.explanation["merging"]:
        unused = ("own", "best_own") if step["rule"] == "apart" else ()  # it is about the number of children
        fields = {name: value for name, value in step.items() if value and name not in ("rule", "position", *unused)}
        if "replaced" in fields:
            fields["replaced"] = [ids[position] for position in fields["replaced"]]
        steps.append({"rule": step["rule"], "id": ids[step["position"]], **fields})
    return replace(hit, explanation={**hit.explanation, "merging": steps})


def _explanation_lines(explanation: Mapping[str, Any]) -> Iterator[str]:
    """The scores of the words in the sections that matched, then each step of merging."""
    for section in explanation["scores"]:
        items = " + ".join(f"{item['item']} {_text(item['score'])}" for item in section["items"])
        total = _text(round(sum(item["score"] for item in section["items"]), 3))
        fields: dict[str, list[str]] = {}
        for word in section["words"]:
            fields.setdefault(word["word"], []).append(f"{word['field']} {_text(word['score'])}")
        words = [f"{word} in {', '.join(fields_with)}" for word, fields_with in fields.items()]
        reasons = "; ".join([f"{items} = {total}"] * bool(items) + words)
        yield f"{section['id']} scores {_text(section['score'])}: {reasons}"
    for step in explanation["merging"]:
        rest = {name: value for name, value in step.items() if name not in ("rule", "id")}
        yield f"{step['rule']}: {step['id']}, {_pairs(rest)}"


def show_phases(phases: Mapping[str, Mapping[str, Any]], tie: float) -> None:
    """Print how word scores become a section's score, and the numbers of each search phase."""
    output.echo()
    output.echo(
        f"A section's score: its sum, divided by the best section's, to the power of {SHARPNESS}. In the sum a word "
        f"counts as in its best field, and {tie:g} of the others; of words with OR the best counts, and {tie:g} of the "
        "others; of a name, a version or a prefix the best reading."
    )
    for name, counted in phases.items():
        output.echo(output.visible(f"{name}: {_pairs(counted)}"))


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in values.items())


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(_text, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
