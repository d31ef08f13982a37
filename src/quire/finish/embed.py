"""When the breadcrumb stands above the text to embed, and how much of it. Used by assemble.py; pure.

`always` prepends the full line, `none` nothing. `conditional` prepends what the text lacks:

    the full line    to a chunk that holds a heading, or only code, tables or lists, or is short
    the title alone  to prose from the middle of a section
    nothing          where the line would only say what the chunk's first heading says
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})


class Content(NamedTuple):
    """What the rule looks at; what is dear to find out is asked for only where the rest does not decide."""

    has_heading: bool
    """Whether there is a heading in the chunk's own text."""
    first_heading: str | None
    """The heading that its text starts with, if it starts with one, as a breadcrumb would say it."""
    is_short: Callable[[], bool]
    """Whether it is below the minimum, overlap included."""
    kinds: Callable[[], frozenset[str]]
    """The kinds of the blocks in the chunk's own text."""


def line_above(full_line: str, title_line: str, content: Content) -> str:
    """The line to prepend in mode `conditional`, or nothing. ``title_line`` is empty where headings say the title."""
    line = full_line if _lacks_context(content) else title_line
    return "" if line == content.first_heading else line


def _lacks_context(content: Content) -> bool:
    return content.has_heading or content.is_short() or content.kinds() <= _WITHOUT_CONTEXT
