"""Documents by the yard: ordinary ones, and ones with a single thing in them. Neighbours: growth.py, hostile.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

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


def prose(size: int) -> str:
    """An ordinary document of about ``size`` characters."""
    pages = size // len(PAGE.format(n=1))
    return "".join(PAGE.format(n=n) for n in range(pages + 1))


def _repeated(text: str) -> Callable[[int], str]:
    return lambda size: text * (size // len(text))


SHAPES: Mapping[str, Callable[[int], str]] = MappingProxyType(
    {
        "an ordinary document": prose,
        "headings with a paragraph": lambda size: "".join(
            f"{'#' * (n % 3 + 1)} Heading {n}\n\nA paragraph of a dozen words, more or less, below it.\n\n"
            for n in range(size // 72)
        ),
        "paragraphs, no heading": _repeated("A paragraph of a dozen words, more or less, in two sentences. Short.\n\n"),
        "the same with CRLF": _repeated("A paragraph of a dozen words, more or less, in two sentences. Short.\r\n\r\n"),
        "items, 20 deep": _repeated("".join(f"{'  ' * depth}- an item with text\n" for depth in range(20)) + "\n"),
        "quotes, 20 deep": _repeated("".join(f"{'> ' * (depth + 1)}quoted text\n" for depth in range(20)) + "\n"),
        "rows of one table": lambda size: (
            "| a | b | c |\n|---|---|---|\n" + "| a cell | another cell | and a third |\n" * (size // 41)
        ),
        "one line of sentences": _repeated("A sentence of some words, and more. "),
        "one line without a space": _repeated("a1b2c3"),
        "one block of code": lambda size: "```python\n" + "    print('a line of code')\n" * (size // 28) + "```\n",
    }
)
"""One thing, more and more of it."""

HOSTILE: Mapping[str, Callable[[int], str]] = MappingProxyType(
    {
        "headings only": _repeated("# h\n"),
        "headings with a letter": _repeated("# h\n\nx\n\n"),
        "one word": _repeated("a"),
        "nested quotes": lambda size: "> " * (size // 2) + "x",
        "nested items": lambda size: "- " * (size // 2) + "x",
        "open brackets": _repeated("["),
        "open angle brackets": _repeated("<"),
        "stars": _repeated("*a "),
        "backticks": _repeated("` `` "),
        "one wide table row": lambda size: "|a" * (size // 4) + "\n" + "|-" * (size // 4) + "\n",
        "fences never closed": _repeated("```a\n"),
        "comments never closed": _repeated("<!-- \n\n"),
        "components never closed": _repeated("<A>\n\n"),
        "directives never closed": _repeated(":::a\n\n"),
        "shortcodes never closed": _repeated("{{< a >}}\n"),
        "shortcodes, nested": lambda size: "{{< a >}}\n" * (size // 22) + "{{< /a >}}\n" * (size // 22),
        "admonitions": _repeated("!!! note\n    x\n\n"),
        "tabs of one group": _repeated('=== "a"\n\n    x\n\n'),
        "definitions": lambda size: "".join(f"[a{n}]: /u\n" for n in range(size // 12)),
        "front matter never closed": lambda size: "---\n" + "a: b\n" * (size // 5),
        "tabs": _repeated("a\tb\t|\t-\n"),
        "carriage returns": _repeated("a\rb\r\r"),
        "emoji": _repeated("😀 é\n\n"),
        "same title": _repeated("# Setup\n\nx\n\n"),
    }
)
"""What hurts, or has hurt, this tool or another."""
