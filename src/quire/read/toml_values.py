"""TOML to values in bounded time. Used by ``frontmatter`` and by ``settings.files``."""

from __future__ import annotations

import re
from typing import Any

_LONG_KEY = re.compile(r"""(?<![\w\\-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){32}""")


def load(text: str) -> dict[str, Any]:
    """The table that ``text`` is; ValueError says what is wrong, and where in the words of ``tomllib``."""
    import tomllib  # noqa: PLC0415  few documents and few folders have TOML

    long_key = _LONG_KEY.search(text)
    if long_key:  # tomllib takes quadratic time for them
        line = text.count("\n", 0, long_key.start()) + 1
        raise ValueError(f"A dotted key has more than 32 parts (at line {line}, column 1)")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("Its values are nested too deep") from error
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise ValueError("A number has too many digits") from error
