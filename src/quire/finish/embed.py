"""When the breadcrumb stands above the text to embed, and how much of it. Used by assemble.py; pure.

`always` prepends the full line, `none` nothing. `conditional` prepends what the text lacks:

    the full line    to a chunk that holds a heading, or only code, tables or lists, or is short
    the title alone  to prose from the middle of a section
    nothing          where the line would only say what the chunk's first heading says
"""

from __future__ import annotations

from typing import NamedTuple

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})


class Content(NamedTuple):
    """What the rule looks at."""

    kinds: frozenset[str]
    """The kinds of the blocks in the chunk's own text."""
    is_short: bool
    """Whether it is below the minimum, overlap included."""
    first_heading: str | None
    """The heading that its text starts with, if it starts with one, as a breadcrumb would say it."""


def line_above(mode: str, full_line: str, title_line: str, content: Content) -> str:
    """The line to prepend; empty for none. ``title_line`` is empty where the headings say the title."""
    if mode == "none":
        return ""
    if mode == "always":
        return full_line
    line = full_line if _lacks_context(content) else title_line
    return "" if line == content.first_heading else line


def _lacks_context(content: Content) -> bool:
    return content.is_short or "heading" in content.kinds or content.kinds <= _WITHOUT_CONTEXT
