"""Every exception that quire raises on purpose.

The whole tree:

    QuireError                 anything below; catch this one
    ├── OptionError            an option that does not exist or cannot be honoured (also a ValueError)
    ├── InputError             a document that cannot be read (carries path and reason)
    │   └── UndecodableError   its bytes are not the text they claim to be (carries the line and the byte offset)
    ├── GuardError             a chunk that is not worth embedding, with guard="raise"
    ├── TokenizerError         a token counter that cannot be loaded or answers nonsense
    ├── QueryError             a query that uses the syntax wrongly (carries the query and the position)
    ├── StoreError             an index that cannot be read or written (carries its folder and the reason)
    │   └── IndexDamagedError  its files are not what was written; the next update makes it anew
    ├── BusyError              another process is updating the index
    └── NotFoundError          something that is not in the index (also a LookupError)

A message says what is wrong, where, and what to do about it; ``near`` says what was perhaps meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


class QuireError(Exception):
    """The root of the tree."""


class OptionError(QuireError, ValueError):
    """An option that does not exist or cannot be honoured."""


class InputError(QuireError):
    """A document that cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        """The document, as the user named it."""
        self.reason = reason
        """What is wrong and what to do, without the path."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason)


class UndecodableError(InputError):
    """Bytes that are not the text they claim to be."""

    def __init__(self, path: str, problem: str, line: int, offset: int) -> None:
        super().__init__(path, f"line {line}, {problem}")
        self.problem = problem
        """What is wrong, and what to do, without the line."""
        self.line = line
        """The line of the first undecodable byte, from 1."""
        self.offset = offset
        """Position of the first undecodable byte in the file."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.problem, self.line, self.offset)


class GuardError(QuireError):
    """A chunk that is not worth embedding, where that is to be an error."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        """The document, as the user named it."""
        self.reason = f"line {line}: {message}"
        """What is wrong, without the path."""
        self._line, self._message = line, message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self._line, self._message)


class TokenizerError(QuireError):
    """A token counter that cannot be loaded or answers nonsense."""


class QueryError(QuireError):
    """A query that uses the syntax wrongly; as text it shows the query with a caret under the mistake."""

    def __init__(self, query: str, position: int, message: str) -> None:
        super().__init__("\n".join([message, *_pointed(query, position)]))
        self.query = query
        """As it was asked."""
        self.position = position
        """The character that the mistake stands at; the length of the query where something is missing at its end."""
        self.message = message
        """What is wrong and what to do, in one line."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.query, self.position, self.message)


def _pointed(query: str, position: int) -> tuple[str, str]:
    """The line of a query around a position, and a caret below it."""
    first = max(query.rfind("\n", 0, position) + 1, position - 50)
    last = query.find("\n", position)
    last = min(len(query) if last < 0 else last, position + 30)
    before = "…" * (first > 0) + _printable(query[first:position])
    behind = _printable(query[position:last]) + "…" * (last < len(query))
    return f"  {before}{behind}", f"  {' ' * _columns(before)}^"


def _columns(text: str) -> int:
    """How wide a text is on a terminal: accents take no column, Chinese characters and most emoji take two."""
    from unicodedata import category, east_asian_width  # noqa: PLC0415  needed only for this

    return sum((category(char) not in ("Mn", "Me")) * (1 + (east_asian_width(char) in "WF")) for char in text)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


class StoreError(QuireError):
    """An index that cannot be read or written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        """The folder of the index."""
        self.reason = reason
        """What is wrong and what to do, without the folder."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason)


class IndexDamagedError(StoreError):
    """An index whose files are not what was written."""


class BusyError(QuireError):
    """Another process is updating the index."""


class NotFoundError(QuireError, LookupError):
    """Something that is not in the index."""


def near(name: object, names: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """`` (did you mean …?)`` for a message, where one of ``names`` is much like ``name``; else nothing."""
    from difflib import get_close_matches  # noqa: PLC0415  for mistakes only

    close = get_close_matches(str(name), list(names), n=1)
    return f" (did you mean {shown(close[0])}?)" if close else ""
