"""A tree: a named folder of documents, on this machine or in a git repository. ``[trees.NAME]`` in quire.toml."""

from collections.abc import Container
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from quire.operating_system import digest, temporary_folder, user_folder
from quire.patterns import pattern
from quire.substitutions import Substitutions

Language = Literal[
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish", "none",
]  # fmt: skip
"""The language of a tree's words; in ``none`` only equal words match."""
NAME = pattern(r"[\w.-]+")  # the name of a tree, with which ids begin
DEFAULT_LANGUAGE: Language = "english"
Text = Annotated[str, Meta(min_length=1)]
Patterns = Annotated[Text | tuple[Text, ...], Meta(extra={"rule": 'a list of patterns, as in ["guides/**"]'})]


OnUndecodable = Literal["strict", "replace"]
"""What to do with undecodable bytes: raise an error, or replace them by U+FFFD with a warning."""


class Reading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the files of a tree are found and read."""

    hidden: Annotated[bool, Meta(description="also the documents of .github, .claude and .cursor")] = False
    encoding: Annotated[
        str, Meta(description="the encoding of its files, such as latin-1; by default UTF-8, or as a mark says")
    ] = ""
    errors: Annotated[OnUndecodable, Meta(description="refuse or replace bytes that cannot be decoded")] = "strict"
    substitutions: Substitutions = {}


class Tree(Reading, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A named folder of documents, or one document."""

    path: Annotated[
        str,
        Meta(
            pattern=r"^[^\0]*$",
            description="its folder or its only document, relative to the folder of the file, or in the repository",
            extra={"rule": "a path, relative to the folder of the file"},
        ),
    ] = ""
    git: Annotated[str, Meta(description="the address of a git repository that has it")] = ""
    ref: Annotated[str, Meta(description="the branch or tag of the repository")] = ""
    language: Annotated[Language, Meta(description="the language of its words")] = DEFAULT_LANGUAGE
    include: Annotated[Patterns, Meta(description="the documents to take; by default all")] = ()
    exclude: Annotated[Patterns, Meta(description="the documents to leave out")] = ()
    chunk: Annotated[dict[str, Any], Meta(description="its own strategy and options, over those of [chunk]")] = {}
    always: Annotated[bool, Meta(description="in the user's own file: search it in every project, too")] = False
    weight: Annotated[float, Meta(ge=0, le=1000, description="factor for the scores of its sections")] = 1.0
    base_url: Annotated[str, Meta(description="the address of its published documents, for the url of chunks")] = ""

    @property
    def reading(self) -> Reading:
        """How its files are found and read."""
        return Reading(**{name: getattr(self, name) for name in Reading.__struct_fields__})

    @property
    def folder(self) -> Path:
        """Its folder or its only document; of a repository, its folder in the clone. ``path`` must be absolute."""
        return self.clone / self.path if self.git else Path(self.path)

    @property
    def clone(self) -> Path:
        """The folder of its clone, whether it was fetched or not."""
        name = self.git.rstrip("/").rpartition("/")[2].removesuffix(".git")[:40]
        folder = user_folder("data") or temporary_folder() / "quire"
        return folder / "git" / f"{name}-{digest([self.git, self.ref, self.path])}"


def tree_name(text: str, taken: Container[str] = ()) -> str:
    """A valid name for a tree, made from ``text``, that is not ``taken``."""
    valid = "".join(char if NAME.fullmatch(char) else "-" for char in text).strip("-.")
    return unused_name(valid or "tree", taken)


def unused_name(name: str, taken: Container[str]) -> str:
    """``name``, with a number if it is ``taken``."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(other for other in chain([name], numbered) if other not in taken)
