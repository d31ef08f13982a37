"""What strategies make of documents, gathered document by document, here or by several processes. For stats.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from quire import options as run_options
from quire import pipeline
from quire.cli.documents import Tally, Text, attempted
from quire.cli.jobs import counter_for, load
from quire.counter import TokenCounter
from quire.model import Syntax
from quire.record import Chunk, Chunks


@dataclass
class Measured:
    """What one strategy makes of documents."""

    options: run_options.Options
    sizes: list[int] = field(default_factory=list)
    """The tokens of each text to embed."""
    within: int = 0
    """How many chunks are in the strategy's range."""
    embedded: int = 0
    """The characters of all texts to embed."""
    repeated: int = 0
    """How many of them repeat the chunk before."""
    above: int = 0
    """How many of them are breadcrumbs, with the blank line below."""
    added: int = 0
    """How many of them quire added: these, headers and fences."""
    findings: Counter[str] = field(default_factory=Counter)

    @property
    def range(self) -> tuple[int, int] | None:
        """The strategy's minimum and its cap; None for a strategy without."""
        cap = self.options.cap
        return None if cap is None else (self.options.min_tokens, cap)

    def add(self, chunks: Chunks, codes: Iterable[str], counter: TokenCounter) -> None:
        """Take in a document's chunks and the codes of what was found."""
        for chunk in chunks:
            self.sizes.append(chunk.token_stats.embed_tokens)
            self.within += self._is_within(chunk, counter)
            self.embedded += len(chunk.embed_text)
            self.repeated += chunk.overlap_chars
            self.above += len(chunk.embed_text) - len(chunk.original_text)
            self.added += chunk.added_chars
        self.findings.update(codes)

    def merge(self, later: Measured) -> None:
        """Take in what is known of the documents that follow."""
        self.sizes += later.sizes
        self.within += later.within
        self.embedded += later.embedded
        self.repeated += later.repeated
        self.above += later.above
        self.added += later.added
        self.findings.update(later.findings)

    def _is_within(self, chunk: Chunk, counter: TokenCounter) -> bool:
        """Whether its own text reaches the minimum and its text to embed keeps the cap, as splitting has it."""
        if self.range is None:
            return False
        least, cap = self.range
        stats = chunk.token_stats
        own = counter.count(chunk.own_text) if chunk.overlap_chars else stats.tokens
        return own >= least and stats.embed_tokens <= cap


@dataclass(frozen=True)
class Measuring:
    """Cuts documents by several strategies: how many characters each has, and what every strategy makes of it."""

    strategies: tuple[str, ...]
    tokenizer: str | None
    """A counter's name; None: each strategy's own."""
    syntax: Syntax | None

    def __call__(self, documents: Iterable[Text], tally: Tally) -> Iterator[tuple[int, list[Measured]]]:
        """For each document its length, and what is known of it."""
        for text, cut in attempted(documents, self._cut, tally):
            tally.documents += 1
            measured = self.begun()
            for each, chunks, counter in zip(measured, cut, self._counters(), strict=True):
                each.add(chunks, (finding.code for finding in (*text.findings, *chunks.findings)), counter)
            yield len(text.text), measured

    def _cut(self, text: Text) -> list[Chunks]:
        """The chunks of a document by each strategy."""
        document = pipeline.parse(text.text, path=text.path, syntax=self.syntax)
        return [
            pipeline.chunk(document, strategy, tokenizer=counter)
            for strategy, counter in zip(self.strategies, self._counters(), strict=True)
        ]

    def begun(self) -> list[Measured]:
        """Nothing yet, for each strategy."""
        built = (
            run_options.build(strategy, {"tokenizer": counter.name})
            for strategy, counter in zip(self.strategies, self._counters(), strict=True)
        )
        return [Measured(options) for options in built]

    def prepare(self) -> None:
        """Load what counts in bulk."""
        for counter in self._counters():
            load(counter)

    def _counters(self) -> list[TokenCounter]:
        return [counter_for(strategy, self.tokenizer) for strategy in self.strategies]
