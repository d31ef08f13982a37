"""A search for the worst: documents under 1 MB that take the most time a byte, by strategy.

Documents are made of fragments that parsers, counters and searches for a place to cut may dislike, put together at
random; the worst of them are changed a little, again and again, for a number of seconds, from a fixed seed. What is
found is cut down to what it takes, then measured at full size. The yardstick is the median over ordinary documents.

``python -m benchmarks.hostile SECONDS SEED`` runs it alone.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks import measure
from benchmarks.growth import cut
from benchmarks.shapes import prose
from quire.model.options import STRATEGIES

SECONDS = 30.0
"""For each strategy."""
SEED = 7
SMALL, LARGE = 20_000, 900_000
"""Characters of a document while searching, and at the end."""
AIM = 20
"""How many times the median a byte may take."""
PATIENCE = 10.0
"""Seconds that one document may take, as far as its smaller likeness tells."""
KEPT = 12

FRAGMENTS = (
    *("# h\n", "## h\n", "###### h\n", "# a b c d\n", "h\n=\n", "h\n-\n", "#\n", "# [x](y) `z` **b**\n"),
    *(
        "x\n",
        "x\n\n",
        "word ",
        "A b. C d! ",
        "a",
        "\n",
        "\n\n\n",
        "  \n",
        "\t",
        " ",
        "\r",
        "\r\n",
        "\\\n",
        "&amp;",
        "\u00a0",
    ),
    *("> ", "> x\n", ">\n", "- ", "- x\n", "  - x\n", "1. ", "1. x\n", "* * *\n", "    x\n", "- [ ] x\n", "+ \n"),
    *("```\n", "```a\n", "~~~\n", "`", "``", "` `` ", "$$\n", "$x$ ", "$", "~~a~~ ", "~"),
    *("|a|b|\n|-|-|\n", "|1|2|\n", "|", "|a", "|-", "a|b\n-|-\n", "|\\|"),
    *("[", "]", "](", "[a](b)", "[a][b]", "[a]: /u\n", "![", "[^a]", "[^a]: x\n", "[[a]]", "[a]", "(", ")"),
    *("<", "<a", "<a>", "</a>", "<div>\n", "<!-- ", "-->", "<A>\n\n", "<details>\n", "</details>\n", "<?", "<![CDATA["),
    *(
        ":::a\n",
        ":::\n",
        "{x}",
        "{{< a >}}",
        "import a\n",
        "---\n",
        "+++\n",
        "a: b\n",
        "***\n",
        "https://a.bc ",
        "a@b.cd ",
    ),
    *(
        "*",
        "**",
        "_",
        "*a ",
        "**a** ",
        "***a",
        "a*b",
        "\\*",
        "é",
        "e\u0301",
        "😀",
        "👩\u200d👩\u200d👧",
        "漢字。",
        "\u200b",
        "\ufeff",
    ),
    *(
        "0123456789",
        "aaaaaaaaaaaaaaaa",
        "/",
        "//",
        "a.b.c.",
        "...",
        '"a" ',
        "e.g. ",
        "Mr. ",
        "\x00",
        "\u2028",
        "\ud800",
    ),
)


class Part(NamedTuple):
    """A fragment, some times."""

    fragment: str
    times: int


Recipe = tuple[Part, ...]
"""What a document repeats until it is long enough."""


class Found(NamedTuple):
    """A recipe and what its document takes."""

    cost: float
    """Nanoseconds a byte."""
    recipe: Recipe


def document(recipe: Recipe, size: int) -> str:
    """A document of ``size`` characters."""
    unit = "".join(part.fragment * part.times for part in recipe)
    return (unit * (size // len(unit) + 1))[:size]


def run(seconds: float = SECONDS, seed: int = SEED) -> Iterator[str]:
    """The page as lines of Markdown."""
    measure.load()
    ordinary = [text for _, text in measure.documents() if len(text) >= SMALL // 2] or [prose(SMALL)]
    yield f"{seconds:.0f} seconds of search a strategy, seed {seed}. The median is that of ordinary documents of"
    yield f"{SMALL // 2000} KB or more. The aim: none under 1 MB takes more than {AIM} times the median time a byte."
    yield ""
    yield f"| | median, ns/byte | tried | worst at {SMALL // 1000} KB | and larger | times the median | repeats |"
    yield "|---|---|---|---|---|---|---|"
    for strategy in STRATEGIES:
        median = statistics.median(_cost(text, strategy) for text in ordinary[:60])
        tried, best = _searched(strategy, seconds, random.Random(seed))
        worst = [Found(found.cost, _reduced(found, strategy)) for found in best[:2]]
        for number, found in enumerate(worst):
            size, large = _enlarged(found, strategy)
            ratio = max(large, found.cost) / median
            name, counted = (f"`{strategy}`", f"{median:.0f} | {tried:,}") if not number else ("", " | ")
            costs = f"{found.cost:.0f} | {large:.0f} at {size // 1000} KB"
            yield f"| {name} | {counted} | {costs} | {ratio:.0f} | `{_shown(found.recipe)}` |"


def _cost(text: str, strategy: str, rounds: int = 2) -> float:
    return measure.seconds(lambda: cut(text, strategy), rounds) / len(text.encode("utf-8", "surrogatepass")) * 1e9


def _measured(recipe: Recipe, strategy: str) -> Found:
    return Found(_cost(document(recipe, SMALL), strategy, rounds=1), recipe)


def _enlarged(found: Found, strategy: str) -> tuple[int, float]:
    """The largest size that can be waited for, up to ``LARGE``, and its cost."""
    size, cost = SMALL, found.cost
    while size < LARGE and cost * 3 * size < PATIENCE * 1e9:
        size = min(3 * size, LARGE)
        cost = _cost(document(found.recipe, size), strategy, rounds=1)
    return size, cost


def _searched(strategy: str, seconds: float, chance: random.Random) -> tuple[int, list[Found]]:
    """How many documents were tried, and the worst of them, with what costs much the same left out."""
    end = time.perf_counter() + seconds
    best: list[Found] = []
    seeds = [(Part(fragment, 1),) for fragment in FRAGMENTS]
    tried = 0
    while time.perf_counter() < end:
        recipe = seeds.pop() if seeds else _changed(chance.choice(best).recipe, best, chance)
        tried += 1
        best = _kept([*best, _measured(recipe, strategy)])
    confirmed = [Found(_cost(document(found.recipe, SMALL), strategy, rounds=3), found.recipe) for found in best]
    return tried, _distinct(sorted(confirmed, reverse=True))


def _kept(found: Sequence[Found]) -> list[Found]:
    by_recipe = {each.recipe: each for each in found}
    return sorted(by_recipe.values(), reverse=True)[:KEPT]


def _distinct(found: Sequence[Found]) -> list[Found]:
    """One for each most frequent fragment."""
    first: dict[str, Found] = {}
    for each in found:
        main = max(each.recipe, key=lambda part: part.times * len(part.fragment)).fragment
        first.setdefault(main, each)
    return list(first.values())


def _changed(recipe: Recipe, best: Sequence[Found], chance: random.Random) -> Recipe:
    """The same with one thing added, taken away, repeated, replaced, moved, or taken from another."""
    parts = list(recipe)
    at = chance.randrange(len(parts))
    new = Part(chance.choice(FRAGMENTS), chance.choice((1, 1, 2, 5, 30, 500)))
    match chance.randrange(6):
        case 0:
            parts.insert(at, new)
        case 1 if len(parts) > 1:
            del parts[at]
        case 2:
            parts[at] = Part(parts[at].fragment, chance.choice((1, 2, 3, 10, 100, 1000)))
        case 3:
            parts[at] = new
        case 4:
            chance.shuffle(parts)
        case _:
            parts += chance.choice(best).recipe
    return tuple(parts[:8])


def _reduced(found: Found, strategy: str) -> Recipe:
    """Without the parts that it can do without, at nine tenths of the cost."""
    recipe = found.recipe
    for part in found.recipe:
        fewer = tuple(each for each in recipe if each != part)
        if fewer and _cost(document(fewer, SMALL), strategy) >= 0.9 * found.cost:
            recipe = fewer
    return recipe


def _shown(recipe: Recipe) -> str:
    parts = (f"{part.fragment!r}" + (f"*{part.times}" if part.times > 1 else "") for part in recipe)
    return " + ".join(parts).replace("|", "\\|").replace("`", "ˋ")


if __name__ == "__main__":
    given = dict(zip(("seconds", "seed"), map(int, sys.argv[1:]), strict=False))
    for line in run(given.get("seconds", SECONDS), given.get("seed", SEED)):
        print(line, flush=True)
