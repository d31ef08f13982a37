"""Passages of documents, and what happens to quotations: harmless changes, and seven that make them false.

Nothing here uses quire: the passages and their lines come from the files, and whether a changed passage is still in
the documents is decided by their letters and digits.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SITES = {"Rust Book": "linkqa/rustbook", "Vue": "wild/vitepress", "FastAPI": "wild/fastapi"}
_NUMBER = re.compile(r"\d+")
_PLAIN = re.compile(r"[A-Za-z][a-z]+[.,;:]?")
_NAME = re.compile(r"[A-Z][A-Za-z]+[.,;:]?|`[A-Za-z_.]{3,}`|[a-z]+_[a-z_]+")
_NEGATION = re.compile(r"not|never|no|cannot|don't|doesn't|isn't|can't", re.IGNORECASE)


class Passage(NamedTuple):
    """A part of a file."""

    path: str
    text: str
    lines: tuple[int, int]


class Site:
    """The files of a site."""

    def __init__(self, folder: Path) -> None:
        files = sorted(file for file in folder.rglob("*") if file.suffix in {".md", ".mdx"} and file.is_file())
        self.texts = {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files}
        self.letters = {path: letters(text) for path, text in self.texts.items()}

    def has(self, text: str) -> bool:
        """Whether a document has these letters and digits, one after the other."""
        wanted = letters(text)
        return any(wanted in text for text in self.letters.values())

    def passages(self, count: int, chance: random.Random) -> Iterator[Passage]:
        """Passages of 5 to 60 words from anywhere in the bodies of pages."""
        paths = [path for path, text in self.texts.items() if len(text.split()) > 100]
        while count:
            path = chance.choice(paths)
            text = self.texts[path]
            body = text.find("\n---", 3) + 4 if text.startswith("---") else 0
            words = list(re.finditer(r"\S+", text[body:]))
            first = chance.randrange(len(words) - 5) if len(words) > 5 else 0
            chosen = words[first : first + chance.randint(5, 60)]
            start, end = body + chosen[0].start(), body + chosen[-1].end()
            if len(chosen) >= 5 and len(letters(text[start:end])) >= 15:
                lines = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
                yield Passage(path, text[start:end], lines)
                count -= 1


def letters(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[\W_]", "", text)


# Harmless


def spaced(text: str, chance: random.Random) -> str:
    return "".join(word + chance.choice([" ", "  ", "\n", " "]) for word in text.split()).strip()


def typographic(text: str, chance: random.Random) -> str:
    return re.sub(r'"([^"\n]*)"', r"“\1”", text).replace("'", "’")


def unmarked(text: str, chance: random.Random) -> str | None:
    """Without the marks that a published page does not show; a passage with an image is left out."""
    plain = re.sub(r"\]\([^()\s]*\)|\*\*|`(?!``)(?<!``)", "", text)
    is_torn = "![" in text or "](" in plain or text.count("{") != text.count("}")
    return None if is_torn else re.sub(r"\[(?=[\w`])", "", plain)


def hyphenated(text: str, chance: random.Random) -> str:
    return re.sub(r"([a-z]{4})([a-z]{4})", "\\1\u00ad\\2", text)


def shortened(text: str, chance: random.Random) -> str | None:
    words = text.split()
    return " ".join([*words[:5], "…", *words[-5:]]) if len(words) >= 14 else None


# False


def _replaced(text: str, pattern: re.Pattern[str], chance: random.Random, new: Callable[[str], str]) -> str | None:
    words = text.split(" ")
    numbers = [number for number, word in enumerate(words) if pattern.fullmatch(word)]
    if not numbers:
        return None
    number = chance.choice(numbers)
    words[number] = new(words[number])
    return " ".join(words)


def other_number(text: str, chance: random.Random) -> str | None:
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = chance.choice(found)
    return f"{text[: match.start()]}{int(match[0]) + chance.randint(1, 9)}{text[match.end() :]}"


def other_name(text: str, chance: random.Random) -> str | None:
    return _replaced(text, _NAME, chance, lambda name: f"`Q{letters(name)[1:]}x`")


def other_negation(text: str, chance: random.Random) -> str | None:
    words = text.split(" ")
    kept = [word for word in words if not _NEGATION.fullmatch(word)]
    if len(kept) < len(words):
        return " ".join(kept)
    return _replaced(text, _PLAIN, chance, lambda word: f"not {word}")


def word_left_out(text: str, chance: random.Random) -> str | None:
    inner = _replaced(text.partition(" ")[2].rpartition(" ")[0], _PLAIN, chance, lambda word: "")
    return None if inner is None else f"{text.partition(' ')[0]} {inner} {text.rpartition(' ')[2]}"


def other_word(text: str, chance: random.Random) -> str | None:
    return _replaced(text, _PLAIN, chance, lambda word: chance.choice(["always", "rarely", "before", "after", "must"]))


def words_swapped(text: str, chance: random.Random) -> str | None:
    words = text.split(" ")
    pairs = [at for at in range(len(words) - 1) if _PLAIN.fullmatch(words[at]) and _PLAIN.fullmatch(words[at + 1])]
    if not pairs:
        return None
    at = chance.choice(pairs)
    words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


def stitched(text: str, other: str) -> str:
    first, second = text.split(" "), other.split(" ")
    return " ".join([*first[: len(first) // 2 + 1], *second[len(second) // 2 :]])


SHORTENED = "… for the middle"
HARMLESS: dict[str, Callable[[str, random.Random], str | None]] = {
    "as it is": lambda text, chance: text,
    "white space": spaced,
    "typographic quotes": typographic,
    "without Markdown marks": unmarked,
    "soft hyphens": hyphenated,
    SHORTENED: shortened,
}
FALSE: dict[str, Callable[[str, random.Random], str | None]] = {
    "a number": other_number,
    "a name": other_name,
    "a negation": other_negation,
    "a word left out": word_left_out,
    "another word": other_word,
    "two words swapped": words_swapped,
}
STITCHED = "two passages stitched"


class Case(NamedTuple):
    """A quotation, and what should be said about it."""

    passage: Passage
    change: str
    quote: str
    is_true: bool


def cases(site: Site, count: int, seed: int = 1) -> Iterator[Case]:
    """Quotations of ``count`` passages; a false one whose letters are in the site by chance is left out."""
    chance = random.Random(seed)
    passages = list(site.passages(count, chance))
    for number, passage in enumerate(passages):
        for name, change in HARMLESS.items():
            quote = change(passage.text, chance)
            ends = letters(" ".join(passage.text.split()[:5])), letters(" ".join(passage.text.split()[-5:]))
            if name == SHORTENED and any(site.letters[passage.path].count(end) > 1 for end in ends):
                continue  # where it is would be unclear
            if quote is not None:
                yield Case(passage, name, quote, is_true=True)
        false = {name: change(passage.text, chance) for name, change in FALSE.items()}
        false[STITCHED] = stitched(passage.text, passages[number - 1].text)
        for name, quote in false.items():
            if quote is not None and not site.has(quote):
                yield Case(passage, name, quote, is_true=False)


def is_right(site: Site, passage: Passage, lines: tuple[int, int]) -> bool:
    """Whether a passage is at these lines; it may be in the document more than once."""
    text = site.texts[passage.path].split("\n")
    first, last = lines
    size = passage.lines[1] - passage.lines[0]
    return lines == passage.lines or (
        last - first <= size + 2 and letters(passage.text) in letters("\n".join(text[first - 1 : last]))
    )
