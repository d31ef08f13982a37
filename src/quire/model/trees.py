"""A tree: a named folder of documents, on this machine or in a git repository. ``[trees.NAME]`` in quire.toml."""

import os
from collections.abc import Container
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from quire.model.operating_system import digest, temporary_folder, user_folder
from quire.model.patterns import pattern
from quire.model.substitutions import Substitutions
from quire.model.validation import about

Language = Literal[
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish", "none",
]  # fmt: skip
"""The language of a tree's words; in ``none`` only equal words match."""
NAME = pattern(r"[\w.-]+")  # the name of a tree, with which ids begin
REMOTE = pattern(
    r"(?a)(?:https?|ssh)://(?:[\w%~+][\w%~+.:-]*@)?(?:\w[\w.-]*|\[[\da-fA-F:.]+\])(?::\d+)?(?:/[!-~]*)?"
    r"|\w[\w.-]*@\w[\w.-]*:(?![-:])[!-~]+"
)
"""The address of a repository that git fetches over HTTP or ssh, and takes for nothing else."""
DEFAULT_LANGUAGE: Language = "english"
Text = Annotated[str, Meta(min_length=1)]
Patterns = Annotated[Text | tuple[Text, ...], Meta(extra={"rule": 'a list of patterns, as in ["guides/**"]'})]


OnUndecodable = Literal["strict", "replace"]
"""What to do with undecodable bytes: raise an error, or replace them by U+FFFD with a warning."""


class Reading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the files of a tree are found and read."""

    hidden: Annotated[bool, about("also the documents of .github, .claude and .cursor")] = False
    encoding: Annotated[
        str, about("the encoding of its files, such as latin-1; by default UTF-8, or as a mark says")
    ] = ""
    errors: Annotated[OnUndecodable, about("refuse or replace bytes that cannot be decoded")] = "strict"
    substitutions: Substitutions = {}
    page_marker: Annotated[str, about("a regular expression for lines that begin a page")] = ""


_WORD = r"^(?!-)[^\x00-\x1f\x7f]*$"  # not an option of git


class Tree(Reading, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A named folder of documents, or one document."""

    SOURCE: ClassVar = ".quire-source"  # the file in a clone that has its source and its commit
    path: Annotated[
        str,
        about(
            "its folder or its only document, relative to the folder of the file, or in the repository",
            pattern=r"^[^\0]*$",
            extra={"rule": "a path, relative to the folder of the file"},
        ),
    ] = ""
    git: Annotated[str, about("the address of a git repository that has it", pattern=_WORD)] = ""
    ref: Annotated[str, about("the branch or tag of the repository", pattern=_WORD)] = ""
    language: Annotated[Language, about("the language of its words")] = DEFAULT_LANGUAGE
    include: Annotated[Patterns, about("the documents to take; by default all")] = ()
    exclude: Annotated[Patterns, about("the documents to leave out")] = ()
    chunk: Annotated[dict[str, Any], about("its own strategy and options, over those of [chunk]")] = {}
    always: Annotated[bool, about("in the user's own file: search it in every project, too")] = False
    weight: Annotated[float, about("factor for the scores of its sections", ge=0, le=1000)] = 1.0
    base_url: Annotated[str, about("the address of its published documents, for the url of chunks")] = ""

    @property
    def reading(self) -> Reading:
        """How its files are found and read."""
        return Reading(**{name: getattr(self, name) for name in Reading.__struct_fields__})

    @property
    def folder(self) -> Path:
        """Its folder or its only document, by an absolute ``path``; none exists if a clone is of another source."""
        if not self.git:
            return Path(self.path)
        with suppress(OSError, ValueError):
            if (self.clone / self.SOURCE).read_text("utf-8").startswith(f"{self.source}\n"):
                return self.clone / self.path
        return self.clone / self.SOURCE / self.path

    @property
    def source(self) -> str:
        """The address, ref and path in a repository, as one line."""
        return repr([self.git, self.ref, self.path])

    @property
    def clone(self) -> Path:
        """The folder of its clone, whether it was fetched or not."""
        name = tree_name(self.git.rstrip("/").rpartition("/")[2].removesuffix(".git")[:40])
        folder = user_folder("data") or temporary_folder() / "quire"
        return folder / "git" / f"{name}-{digest([self.git, self.ref, self.path])}"


def is_repository_path(path: str) -> bool:
    """Whether a path can be a folder in a repository."""
    parts = path.replace("\\", "/").split("/")
    is_elsewhere = os.path.isabs(path) or any(part == ".." or part.rstrip(" .").lower() == ".git" for part in parts)  # noqa: PTH117
    return not is_elsewhere and not path.startswith("-")


def tree_name(text: str, taken: Container[str] = ()) -> str:
    """A valid name for a tree, made from ``text``, that is not ``taken``."""
    valid = "".join(char if NAME.fullmatch(char) else "-" for char in text).strip("-.")
    return unused_name(valid or "tree", taken)


def unused_name(name: str, taken: Container[str]) -> str:
    """``name``, with a number if it is ``taken``."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(other for other in chain([name], numbered) if other not in taken)
