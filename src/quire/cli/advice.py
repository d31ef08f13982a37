"""Commands that a message advises, as they must be typed for the index that is in use.

Used by ``indexes`` and the commands that work on an index.
"""

from __future__ import annotations

from quire.cli.places import reachable
from quire.errors import QuireError
from quire.settings import Settings


def advice(command: str, settings: Settings) -> str:
    """A command that is advised, as it must be typed for this index."""
    return f"`quire {command}{index_given(settings)}`"


def index_given(settings: Settings) -> str:
    """The option that leads to this index; empty if it is found without."""
    if str(settings.index) == settings.values["index"].value:
        return ""
    from shlex import quote  # noqa: PLC0415  for advice only

    return f" --index {quote(reachable(settings.index))}"


def no_index(settings: Settings) -> QuireError:
    """What to say where there is no index."""
    above = next((each for each in settings.index.parents[1:] if (each / settings.index.name).is_dir()), None)
    makes = f"{advice('index PATH', settings)} makes one"
    hint = f"there is one above: add --index {reachable(above / settings.index.name)}" if above else ""
    return QuireError(f"{reachable(settings.index)}: there is no index yet", hint or makes)
