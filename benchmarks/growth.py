"""Whether the cost grows linearly: one document from 10 KB to 50 MB, and shapes that are known to hurt."""

from __future__ import annotations

from collections.abc import Callable

import quire
from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 50_000_000)

PAGE = """# Section {n}

Some prose about section {n}, with `code`, a [link](https://example.org/{n}) and **emphasis** in it.
It goes on over two lines.

- an item
- another, with text

```python
# a comment
print({n})
```

| a | b |
|---|---|
| {n} | 2 |

## Part {n}

> A quote.

Last words.

"""

SHAPES: dict[str, Callable[[int], str]] = {
    "headings only": lambda size: "# h\n" * (size // 4),
    "headings with text": lambda size: "# h\n\nx\n\n" * (size // 8),
    "one line": lambda size: "word " * (size // 5),
    "one word": lambda size: "a" * size,
    "nested quotes": lambda size: "> " * (size // 2) + "x",
    "nested items": lambda size: "- " * (size // 2) + "x",
    "open brackets": lambda size: "[" * size,
    "open angle brackets": lambda size: "<" * size,
    "stars": lambda size: "*a " * (size // 3),
    "backticks": lambda size: "` `` " * (size // 5),
    "table rows": lambda size: "|a|b|\n|-|-|\n" + "|1|2|\n" * (size // 6),
    "one wide table row": lambda size: "|a" * (size // 4) + "\n" + "|-" * (size // 4) + "\n",
    "fences never closed": lambda size: "```a\n" * (size // 5),
    "comments never closed": lambda size: "<!-- \n\n" * (size // 7),
    "components never closed": lambda size: "<A>\n\n" * (size // 5),
    "directives never closed": lambda size: ":::a\n\n" * (size // 6),
    "definitions": lambda size: "".join(f"[a{n}]: /u\n" for n in range(size // 12)),
    "front matter never closed": lambda size: "---\n" + "a: b\n" * (size // 5),
    "tabs": lambda size: "a\tb\t|\t-\n" * (size // 8),
    "carriage returns": lambda size: "a\rb\r\r" * (size // 6),
    "emoji": lambda size: "😀 é\n\n" * (size // 9),
    "same title": lambda size: "# Setup\n\nx\n\n" * (size // 13),
}


def prose(size: int) -> str:
    """An ordinary document of about ``size`` characters."""
    pages = size // len(PAGE.format(n=1))
    return "".join(PAGE.format(n=n) for n in range(pages + 1))


def cut(text: str) -> Callable[[], object]:
    """Parse, cut, count."""
    return lambda: quire.chunk(text, "tree", path="a.md")


def run() -> list[str]:
    """Two tables as lines of Markdown."""
    quire.chunk("".join(chr(0x4E00 + n % 20000) for n in range(500_000)), "tree")  # loads the vocabulary
    rows = ["| one document of | seconds | ms/MB |", "|---|---|---|"]
    for size in SIZES:
        text = prose(size)
        time = measure.seconds(cut(text), rounds=3 if size <= 1_000_000 else 1)
        rows.append(f"| {len(text) / 1e6:.2f} MB | {time:.3f} | {time / len(text) * 1e9:.1f} |")
    rows += ["", "| shape | 100 KB, ms/MB | 1 MB, ms/MB | ratio |", "|---|---|---|---|"]
    for name, shape in SHAPES.items():
        small, large = shape(100_000), shape(1_000_000)
        per_small = measure.seconds(cut(small)) / len(small) * 1e9
        per_large = measure.seconds(cut(large), rounds=2) / len(large) * 1e9
        rows.append(f"| {name} | {per_small:.0f} | {per_large:.0f} | {per_large / per_small:.1f} |")
    return rows
