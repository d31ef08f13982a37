"""Every exception that quire raises on purpose.

The whole tree:

    QuireError                 anything below; catch this one
    ├── OptionError            an option that does not exist or cannot be honoured (also a ValueError)
    ├── InputError             a document that cannot be read (carries path and reason)
    │   └── UndecodableError   its bytes are not the text they claim to be (carries the byte offset)
    ├── GuardError             a chunk that is not worth embedding, with guard="raise"
    └── TokenizerError         a token counter that cannot be loaded or answers nonsense

A message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations


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

    def __init__(self, path: str, reason: str, offset: int) -> None:
        super().__init__(path, reason)
        self.offset = offset
        """Position of the first undecodable byte in the file."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason, self.offset)


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
