"""Every exception that quire raises on purpose.

The whole tree:

    QuireError                 anything below; catch this one
    ├── OptionError            an unknown option or an invalid value (has its name; also a ValueError)
    ├── InputError             a document that cannot be read (has its path)
    │   └── UndecodableError   its bytes cannot be decoded (has the line and the byte offset)
    ├── GuardError             a chunk that is not worth embedding, with guard="raise" (has path and line)
    ├── EmbedderError          an embedding model that cannot be reached or does not return vectors
    ├── TokenizerError         a tokenizer that cannot be loaded or does not return a count
    ├── QueryError             invalid query syntax (has the query and the position)
    ├── StoreError             an index or a vector store that cannot be read or written (has its folder or target)
    │   └── IndexDamagedError  its files are damaged; the next update rebuilds it
    ├── BusyError              another process is updating the index (has its folder)
    ├── MissingExtraError      a package of an extra is not installed (has its name; also an ImportError)
    └── NotFoundError          a section or document that is not in the index (also a LookupError)
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Self
from unicodedata import category, east_asian_width

from quire import DISTRIBUTION


class QuireError(Exception):
    """The root of the tree."""

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem = problem  # what is wrong
        self.advice = advice  # what to do, if ``problem`` does not say it; the command line replaces it with its own

    @property
    def message(self) -> str:
        """What is wrong and what to do, in one line."""
        return f"{self.problem}; {self.advice}" if self.advice else self.problem

    @property
    def reason(self) -> str:
        """The message without the path, if there is one."""
        return self.message

    def advising(self, advice: str) -> Self:
        """The same error with other advice."""
        other = type(self).__new__(type(self), *self.args)
        vars(other).update(vars(self), advice=advice)
        return other

    def __str__(self) -> str:
        return self.reason

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the fields: errors are sent between processes."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class OptionError(QuireError, ValueError):
    """An unknown option or an invalid value."""

    def __init__(self, problem: str, advice: str = "", *, option: str = "") -> None:
        super().__init__(problem, advice)
        self.option = option  # its name; empty if the error is about none or several


class _PathError(QuireError):
    """An error about a file or folder, or a line of it."""

    line = 0  # of the problem, from 1; 0 if there is none

    def __init__(self, path: str, problem: str, advice: str = "") -> None:
        super().__init__(problem, advice)
        self.path = path  # the document, as the user named it; the folder of the index

    @property
    def reason(self) -> str:
        """The message with the line, without the path."""
        return f"line {self.line}, {self.message}" if self.line else self.message

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class InputError(_PathError):
    """A document that cannot be read."""


class UndecodableError(InputError):
    """A document whose bytes cannot be decoded."""

    def __init__(self, path: str, problem: str, line: int, offset: int, advice: str = "") -> None:
        super().__init__(path, problem, advice)
        self.line = line  # of the first undecodable byte
        self.offset = offset  # of that byte in the file


class GuardError(_PathError):
    """A chunk that is not worth embedding, with ``guard="raise"``."""

    def __init__(self, path: str, line: int, problem: str, advice: str = "") -> None:
        super().__init__(path, problem, advice)
        self.line = line  # the first of the chunk


class EmbedderError(QuireError):
    """An embedding model that cannot be reached or does not return vectors."""


class TokenizerError(QuireError):
    """A tokenizer that cannot be loaded or does not return a count."""


class QueryError(QuireError):
    """Invalid query syntax; as text it shows the query with a caret under the mistake."""

    def __init__(self, query: str, position: int, problem: str, advice: str = "") -> None:
        super().__init__(problem, advice)
        self.query = query
        self.position = position  # of the mistake; the length of the query if something is missing at its end

    def __str__(self) -> str:
        first, last = max(self.position - 50, 0), self.position + 30
        printable = "".join(char if char.isprintable() else " " for char in self.query)
        before = "…" * (first > 0) + printable[first : self.position]
        behind = printable[self.position : last] + "…" * (last < len(printable))
        return f"{self.message}\n  {before}{behind}\n  {' ' * sum(map(char_width, before))}^"


@lru_cache(maxsize=4096)
def char_width(char: str) -> int:
    """The width of a character on a terminal: accents take no column, Chinese characters and most emoji take two."""
    return 0 if category(char) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(char) in "WF")


class StoreError(_PathError):
    """An index or a vector store that cannot be read or written."""


class IndexDamagedError(StoreError):
    """An index with damaged files. The advice ends with the command that rebuilds it."""


class BusyError(_PathError):
    """Another process is updating the index."""


class MissingExtraError(QuireError, ImportError):
    """A package that an extra of quire installs is missing."""

    def __init__(self, extra: str, package: str | None = None) -> None:
        super().__init__(f"{package or extra} is not installed", f"install it: pip install '{DISTRIBUTION}[{extra}]'")
        self.extra = extra


class NotFoundError(QuireError, LookupError):
    """A section or document that is not in the index."""

    def __init__(self, problem: str, advice: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(problem, advice)
        self.near = near  # matches in documents with the same file name in other folders


def invalid_value(name: str, value: object, rule: str) -> OptionError:
    """The error for an invalid value of an option; ``rule`` says which values are valid."""
    return OptionError(f"{name}={value!r:.80} is invalid: {rule}", option=name)


def is_panic(error: BaseException) -> bool:
    """Whether a package written in Rust panicked. Its exception class cannot be imported."""
    return type(error).__module__ == "pyo3_runtime"


def did_you_mean(name: object, names: Iterable[str], shown: Callable[[str], str] = str, cutoff: float = 0.6) -> str:
    """`` (did you mean …?)`` for a message if one of ``names`` is similar to ``name``; else empty."""
    close = similar(str(name), list(names), 1, cutoff)
    return f" (did you mean {shown(close[0])}?)" if close else ""


def similar(name: str, names: Sequence[str], most: int, cutoff: float = 0.6) -> list[str]:
    """The names that are most similar to ``name``."""
    from difflib import get_close_matches  # noqa: PLC0415  takes a millisecond to load

    return get_close_matches(name, names, most, cutoff)
