"""Every exception that quire raises on purpose.

The whole tree:

    QuireError                 anything below; catch this one
    ├── OptionError            an option that does not exist or cannot be honoured (carries its name; also a ValueError)
    ├── InputError             a document that cannot be read (carries its path)
    │   └── UndecodableError   its bytes are not the text they claim to be (carries the line and the byte offset)
    ├── GuardError             a chunk that is not worth embedding, with guard="raise" (carries path and line)
    ├── TokenizerError         a token counter that cannot be loaded or answers nonsense
    ├── QueryError             a query that uses the syntax wrongly (carries the query and the position)
    ├── StoreError             an index that cannot be read or written (carries its folder)
    │   └── IndexDamagedError  its files are not what was written; the next update makes it anew
    ├── BusyError              another process is updating the index (carries its folder)
    └── NotFoundError          something that is not in the index (also a LookupError)

Each says what is wrong (``problem``) and what to do about it (``advice``), apart, so that a surface can advise what its
own users can do; where and about what is in fields, too. ``near`` and ``impossible`` help to say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self


class QuireError(Exception):
    """The root of the tree."""

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem = problem
        """What is wrong."""
        self.advice = advice
        """What to do about it; empty where ``problem`` says it, or nothing can be done."""

    @property
    def message(self) -> str:
        """What is wrong and what to do, in one line."""
        return f"{self.problem}; {self.advice}" if self.advice else self.problem

    @property
    def reason(self) -> str:
        """The message without the path, where there is one."""
        return self.message

    def advising(self, advice: str) -> Self:
        """The same error with other advice."""
        from copy import copy  # noqa: PLC0415  for mistakes only

        other = copy(self)
        other.advice = advice
        return other

    def __str__(self) -> str:
        return self.reason

    def __reduce__(self) -> tuple[object, ...]:
        """As its fields, however it was made: errors are sent from one process to another."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class OptionError(QuireError, ValueError):
    """An option that does not exist or cannot be honoured."""

    def __init__(self, problem: str, advice: str = "", *, option: str = "") -> None:
        super().__init__(problem, advice)
        self.option = option
        """The name of the option; empty where it is about none, or about several."""


class _PathError(QuireError):
    """Something that is wrong with what is at a path."""

    def __init__(self, path: str, problem: str, advice: str = "") -> None:
        super().__init__(problem, advice)
        self.path = path
        """The document, as the user named it; the folder of the index."""

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class InputError(_PathError):
    """A document that cannot be read."""


class UndecodableError(InputError):
    """Bytes that are not the text they claim to be."""

    def __init__(self, path: str, problem: str, line: int, offset: int, advice: str = "") -> None:
        super().__init__(path, problem, advice)
        self.line = line
        """The line of the first undecodable byte, from 1."""
        self.offset = offset
        """Position of the first undecodable byte in the file."""

    @property
    def reason(self) -> str:
        """The message with the line, without the path."""
        return f"line {self.line}, {self.message}"


class GuardError(_PathError):
    """A chunk that is not worth embedding, where that is to be an error."""

    def __init__(self, path: str, line: int, problem: str, advice: str = "") -> None:
        super().__init__(path, problem, advice)
        self.line = line
        """The line that the chunk begins in, from 1."""

    @property
    def reason(self) -> str:
        """The message with the line, without the path."""
        return f"line {self.line}: {self.message}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class TokenizerError(QuireError):
    """A token counter that cannot be loaded or answers nonsense."""


class QueryError(QuireError):
    """A query that uses the syntax wrongly; as text it shows the query with a caret under the mistake."""

    def __init__(self, query: str, position: int, problem: str, advice: str = "") -> None:
        super().__init__(problem, advice)
        self.query = query
        """As it was asked."""
        self.position = position
        """The character that the mistake stands at; the length of the query where something is missing at its end."""

    def __str__(self) -> str:
        return "\n".join([self.message, *_pointed(self.query, self.position)])


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


class StoreError(_PathError):
    """An index that cannot be read or written."""


class IndexDamagedError(StoreError):
    """An index whose files are not what was written. Its advice ends with the command that makes it anew."""


class BusyError(_PathError):
    """Another process is updating the index."""


class NotFoundError(QuireError, LookupError):
    """Something that is not in the index."""

    def __init__(self, problem: str, advice: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(problem, advice)
        self.near = near
        """The same in documents of that file name in other folders."""


def impossible(name: str, value: object, rule: str) -> OptionError:
    """What to say of an option's value that cannot be; ``rule`` says what can."""
    return OptionError(f"{name}={value!r:.80} is not possible", rule, option=name)


def near(name: object, names: Iterable[str], shown: Callable[[str], str] = str, cutoff: float = 0.6) -> str:
    """`` (did you mean …?)`` for a message, where one of ``names`` is much like ``name``; else nothing."""
    from difflib import get_close_matches  # noqa: PLC0415  for mistakes only

    close = get_close_matches(str(name), list(names), n=1, cutoff=cutoff)
    return f" (did you mean {shown(close[0])}?)" if close else ""
