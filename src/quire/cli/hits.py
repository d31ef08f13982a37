"""Sections from the index as a user sees them: as JSON, as text, a line each. Shared by ``search`` and ``get``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any, TextIO

import click

from quire.cli.highlighted import shortened, whole
from quire.cli.output import Paint, count_of, echo, has_colour, is_terminal, terminal_width
from quire.index.file_records import storable
from quire.search.hit import Hit
from quire.search.ranking_settings import SHARPNESS

_WIDTH = 112
_INDENT = "  "
_TELLING = {
    "parent": ("score", "own", "best_own", "replaced"),
    "aggregated": ("score", "matching", "children", "total", "limit", "replaced"),
    "passed over": ("score", "own", "best_own", "matching", "children"),
    "apart": ("matching", "children"),
    "set back": ("score",),
}
"""What decides each rule of merging."""


def record(hit: Hit, file: str, phases: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A hit as ``--json`` prints it; ``file`` is where the document is. With ``phases`` it is explained."""
    made: dict[str, Any] = {
        "id": hit.id,
        "score": round(hit.score, 4),
        "title": hit.title,
        "breadcrumb": hit.breadcrumb,
        "breadcrumbLine": hit.breadcrumb_line,
        "tree": hit.tree,
        "path": hit.path,
        "file": storable(file),
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
    return made if phases is None else {**made, "explanation": _camel({**hit.explanation, "phases": phases})}


def with_breadcrumb(hit: Hit) -> int:
    """How many tokens a hit takes of a budget."""
    return hit.tokens + tokens_of(hit.breadcrumb_line)


def tokens_of(text: str) -> int:
    """How many tokens a text has, as a budget counts them."""
    from quire.index.file_records import TOKENIZER  # noqa: PLC0415  counting takes longer than searching
    from quire.size import resolve  # noqa: PLC0415

    return resolve(None, TOKENIZER).count(text)


def _camel(value: Any) -> Any:
    """A value with the names in it as JSON has them elsewhere."""
    from quire.wire.schema import camel  # noqa: PLC0415  for explanations only

    if isinstance(value, Mapping):
        return {camel(str(name).replace(" ", "_")): _camel(each) for name, each in value.items()}
    return [_camel(each) for each in value] if isinstance(value, list | tuple) else value


def with_ids(hit: Hit, ids: Mapping[int, str]) -> Hit:
    """The hit, its explanation with the ids of nodes for their positions, and without what decided nothing."""
    return replace(
        hit, explanation={**hit.explanation, "merging": [_step(step, ids) for step in hit.explanation["merging"]]}
    )


def _step(step: Mapping[str, Any], ids: Mapping[int, str]) -> dict[str, Any]:
    told = {name: step[name] for name in _TELLING[step["rule"]]}
    if "replaced" in told:
        told["replaced"] = [ids[position] for position in told["replaced"]]
    return {"rule": step["rule"], "id": ids[step["position"]], **told}


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
        """The most that ``show`` writes: as it is when piped. Explanations cost nothing: they change no answer."""
        piped = Printer(StringIO(), as_list=self._as_list)
        return "".join(f"{line}\n" for line in piped._lines(hits, files))

    def _lines(self, hits: Sequence[Hit], files: Sequence[str]) -> Iterator[str]:
        for number, (hit, file) in enumerate(zip(hits, files, strict=True)):
            if self._as_list:
                yield self._in_one_line(hit, file)
                yield from self._explanation(hit)
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
        yield from self._explanation(hit)
        yield ""
        if self._is_whole:
            shown = whole(hit.text, hit.match_ranges, self._mark)
        else:
            shown = shortened(hit.text, hit.match_ranges, self._mark, self._room)
        for line in shown.lines:
            yield f"{self._indent}{line}" if line else ""
        if shown.left_out:
            yield self._paint.faint(f"{self._indent}… {count_of(shown.left_out, 'line')} left out; --full shows all")

    def _explanation(self, hit: Hit) -> Iterator[str]:
        if self._explain:
            yield from (self._paint.faint(f"{_INDENT}{line}") for line in _reasons(hit.explanation))


def _reasons(explanation: Mapping[str, Any]) -> Iterator[str]:
    """How a hit came about: what the words are worth in the sections that matched, then each step of merging."""
    for each in explanation["scores"]:
        items = " + ".join(f"{item['item']} {_text(item['score'])}" for item in each["items"])
        total = _text(round(sum(item["score"] for item in each["items"]), 3))
        told = "; ".join([f"{items} = {total}"] * bool(items) + [*_worth(each["words"])])
        yield f"{each['id']} scores {_text(each['score'])}: {told}"
    for step in explanation["merging"]:
        rest = {name: value for name, value in step.items() if name not in ("rule", "id")}
        yield f"{step['rule']}: {step['id']}, {_pairs(rest)}"


def _worth(words: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each word with its fields."""
    fields: dict[str, list[str]] = {}
    for each in words:
        fields.setdefault(each["word"], []).append(f"{each['field']} {_text(each['score'])}")
    yield from (f"{word} in {', '.join(found)}" for word, found in fields.items())


def summary(phases: Mapping[str, Mapping[str, Any]], tie: float) -> Iterator[str]:
    """How the worth of words becomes a score, and what each phase of the search counted."""
    yield (
        f"A section's score: its sum, divided by the best section's, to the power of {SHARPNESS}. In the sum a word is "
        f"worth what it is in its best field, and {tie:g} of the others; of words with OR the best counts, and {tie:g} "
        "of the others; of a name, a version or a beginning the best way to read it."
    )
    yield from (f"{name}: {_pairs(counted)}" for name, counted in phases.items())


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in values.items())


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(_text, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _marked(text: str) -> str:
    return click.style(text, fg="red", bold=True)
