"""Golden cases: files that hold options, a document and what it is cut into. See tests/cases/README.md."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quire
from quire import Chunk, Chunks
from quire.model.breadcrumbs import reader_line

__all__ = ["Case", "cut", "read", "render", "write"]

FOLDER = Path(__file__).resolve().parents[1] / "cases"
SEPARATOR = "═" * 100
_LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


@dataclass(frozen=True)
class Case:
    """A golden case."""

    file: Path
    first_line: str
    document: str
    expected: str

    @property
    def given(self) -> dict[str, str]:
        """What the first line says."""
        return dict(each.split("=", 1) for each in shlex.split(self.first_line.removeprefix("options:")))

    @property
    def text(self) -> str:
        """The document as it is cut."""
        text = self.document
        if self.given.get("final") == "no":
            text = text.removesuffix("\n")
        text = text.replace("\n", _LINE_ENDS[self.given.get("line_ends", "lf")])
        return "\ufeff" + text if self.given.get("bom") == "yes" else text

    @property
    def options(self) -> dict[str, Any]:
        """The options for ``quire.chunk``."""
        ours = ("line_ends", "bom", "final", "show", "count")
        options: dict[str, Any] = {key: _value(value) for key, value in self.given.items() if key not in ours}
        if self.given.get("count") == "words":
            options["tokenizer"] = count_words
        return options


def count_words(text: str) -> int:
    """The words of a text but those of headings and of a breadcrumb: what the examples of the packing count."""
    lines = (line for line in text.split("\n") if not line.startswith("#") and " > " not in line)
    return sum(len([word for word in line.split() if word == "w"]) for line in lines)


def _value(value: str) -> Any:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.lstrip("-").isdigit() else value


def read(file: Path) -> Case:
    """The case in a file."""
    first_line, _, rest = file.read_text(encoding="utf-8").partition("\n")
    document, _, expected = rest.partition(SEPARATOR + "\n")
    return Case(file, first_line, document, expected)


def write(case: Case, expected: str) -> None:
    """Put what a case gives into its file."""
    case.file.write_text(f"{case.first_line}\n{case.document}{SEPARATOR}\n{expected}", encoding="utf-8")


def cut(case: Case) -> Chunks:
    """The chunks of a case."""
    return quire.chunk(case.text, **case.options)


def render(case: Case, chunks: Chunks) -> str:
    """Chunks and findings as text to read."""
    parts = [_rendered(case, number, chunks) for number in range(len(chunks))]
    parts += [f"! line {finding.line}: {finding.code}\n" for finding in chunks.findings]
    return "\n".join(parts)


def _shown(case: Case, chunk: Chunk) -> str:
    """The text, the text to embed, or only its headings and how many words follow each."""
    if case.given.get("show") == "outline":
        lines = (
            line if line.startswith("#") else f"({line.count('w')} words)"
            for line in chunk.original_text.split("\n")
            if line
        )
        return "\n".join(lines)
    return chunk.embed_text if case.given.get("show") == "embed" else chunk.original_text


def _rendered(case: Case, number: int, chunks: Chunks) -> str:
    chunk = chunks[number]
    place, stats = chunk.source_position, chunk.token_stats
    text = _shown(case, chunk)
    head = (
        f"[{number}] {chunk.id}  lines {place.start_line}-{place.end_line}  {stats.tokens}/{stats.embed_tokens} tokens"
    )
    body = "\n".join(f"    {line}".rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return f"{head}\n{reader_line(chunk.file_title, chunk.header_path)}\n{body}\n"
