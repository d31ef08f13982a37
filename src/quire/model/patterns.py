"""Regular expressions that are compiled when they are first used: a command needs few of those that it imports."""

import re
from typing import Any, cast


class _Pattern:
    """Has the methods of its compiled pattern as attributes, so that only the first use is slower."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._text, self._flags), name)
        self.__dict__[name] = method
        return method


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern, as ``re.compile`` returns it."""
    return cast("re.Pattern[str]", _Pattern(text, flags))
