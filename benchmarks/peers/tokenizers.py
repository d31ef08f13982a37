"""quire with counters that it knows nothing of: how often it counts, and how much text. Neighbours: own.py, report.py.

Of such a counter nothing is known, not even that counts of two parts add up. So what matters is how often it is asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from benchmarks import measure
from benchmarks.measure import Document
from benchmarks.peers.own import OPTIONS, make

_WORD = re.compile(r"\w+|[^\w\s]")


class Watched:
    """A tokenizer of Hugging Face that notes what it is asked. quire copies a tokenizer, so the notes are shared."""

    calls: ClassVar[int] = 0
    characters: ClassVar[int] = 0

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def from_str(cls, text: str) -> Watched:
        """A copy."""
        from tokenizers import Tokenizer  # noqa: PLC0415 - may be missing

        return cls(Tokenizer.from_str(text))

    def encode(self, text: str, **more: Any) -> Any:
        """Noted, then done."""
        Watched.calls += 1
        Watched.characters += len(text)
        return self._tokenizer.encode(text, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)


def words(text: str) -> int:
    """A plain function: words and signs. Noted like the others."""
    Watched.calls += 1
    Watched.characters += len(text)
    return len(_WORD.findall(text))


def trained(documents: Sequence[Document]) -> Watched:
    """A byte-level BPE of 8,000 tokens, trained here and now."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415 - may be missing

    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=8000, show_progress=False, initial_alphabet=alphabet)
    tokenizer.train_from_iterator((text for _, text in documents), trainer)
    return Watched(tokenizer)


def rows(documents: Sequence[Document]) -> Iterator[str]:
    """A table: a row for each counter and strategy."""
    yield "| counter | strategy | counts a chunk | characters counted / characters | MB/s |"
    yield "|---|---|---|---|---|"
    yield from _of("a function (words and signs)", words, documents)
    try:
        tokenizer = trained(documents[::4])
    except ImportError as error:
        yield f"| Hugging Face tokenizer | | not installed: {error} | | |"
    else:
        yield from _of("Hugging Face tokenizer (BPE, trained here)", tokenizer, documents)


def _of(name: str, counter: object, documents: Sequence[Document]) -> Iterator[str]:
    characters = sum(len(text) for _, text in documents)
    for strategy in OPTIONS:
        Watched.calls = Watched.characters = 0
        split = make(strategy, counter)
        started = time.process_time()
        chunks = sum(len(split(text)) for _, text in documents)
        speed = measure.megabytes(documents) / (time.process_time() - started)
        each, share = Watched.calls / chunks, Watched.characters / characters
        yield f"| {name} | `{strategy}` | {each:.1f} | {share:.2f} | {speed:.2f} |"
