"""The options of cutting: a struct per strategy, of which command line, quire.toml and documentation are derived."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from msgspec import Meta, Struct, structs

from quire.errors import OptionError, invalid_value
from quire.model import validation
from quire.model.dialects import DIALECTS, DialectName
from quire.model.substitutions import Substitutions
from quire.model.validation import NO_LIMIT, Naming, about, fields

BreadcrumbMode = Literal["conditional", "always", "none"]
Slugs = Literal[
    "github", "ascii", "docusaurus", "hugo", "blackfriday", "gitbook", "vitepress", "mkdocs", "pymdownx", "kramdown",
    "sphinx", "underscore", "vscode", "auto",
]  # fmt: skip
Guard = Literal["raise", "drop", "warn"]
Overlap = Literal["prose", "always"]

DEFAULT_STRATEGY = "packed"
DEFAULT_TOKENIZER = "o200k_base"
DEFAULT_SLUGS = "github"
AUTO_SLUGS = "auto"
_NAME = {"rule": "a name of letters, digits, '-', '_' and '.'"}
NamePart = Annotated[str, Meta(pattern=r"^[\w.-]+$(?!\n)", extra=_NAME)]
"""The first part of ids: a content type, the name of a tree."""
_PACKED_TARGET = 512  # of packed if a cap is given
Cap = Annotated[int, about("maximum tokens per chunk, breadcrumb included", ge=32, le=NO_LIMIT)]
Target = Annotated[int, about("desired tokens of a chunk; in packed, of the pieces of a long block", ge=1, le=NO_LIMIT)]
Minimum = Annotated[int, about("smaller chunks are joined with others where possible", ge=0, le=NO_LIMIT)]


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of every strategy."""

    strategy: ClassVar[str] = ""
    tokenizer: Annotated[str, about("tokenizer for counting: an encoding, an OpenAI model or a tokenizer.json")] = (
        DEFAULT_TOKENIZER
    )
    content_type: Annotated[NamePart, about("the kind of content; the first part of every id")] = "doc"
    breadcrumb_mode: Annotated[BreadcrumbMode, about("when the breadcrumb line is put above the text to embed")] = (
        "conditional"
    )
    slugs: Annotated[
        Slugs,
        about("the rule for anchors: GitHub's, ASCII only, that of a documentation generator, or auto"),
    ] = "github"
    dialect: Annotated[
        DialectName | None,
        about("the Markdown dialect, which also sets the default of slugs; by default all are read"),
    ] = None
    base_url: Annotated[
        str,
        about(
            "the address of the published documents, which gives every chunk a url",
            pattern=r"^(?:[A-Za-z][A-Za-z0-9+.-]*://\S+|/\S*)?$",
            extra={"rule": "an address, as in https://example.com/docs"},
        ),
    ] = ""
    page_marker: Annotated[
        str, about("a regular expression for lines that begin a page, besides those of known converters")
    ] = ""
    timestamps: Annotated[bool, about("add the time of cutting to the metadata")] = False
    substitutions: Substitutions | None = None

    @property
    def cap(self) -> int | None:
        """Maximum tokens of a text to embed; None if the strategy has no cap."""
        return getattr(self, "max_tokens", None)

    @property
    def minimum(self) -> int:
        """Smaller chunks are joined with others; 0 if the strategy has no minimum."""
        return getattr(self, "min_tokens", 0)

    @property
    def tree_name(self) -> str:
        """The first part of node ids."""
        return getattr(self, "tree", None) or self.content_type

    def to_dict(self) -> dict[str, Any]:
        """The strategy and its options by name."""
        values = {"strategy": self.strategy, **structs.asdict(self)}
        if not self.substitutions:
            del values["substitutions"]
        if values.get("join_tokens") == self.cap:
            values.pop("join_tokens", None)
        if not self.page_marker:
            del values["page_marker"]
        return values


class PackedOptions(Options, frozen=True):
    """The options of ``packed``."""

    strategy: ClassVar[str] = "packed"
    max_tokens: Cap = 1024
    target_tokens: Target = 256
    min_tokens: Minimum = 64
    join_tokens: Annotated[
        int, about("sections share a chunk up to so many tokens; with a size, the cap", ge=1, le=NO_LIMIT)
    ] = 96
    merge_siblings: Annotated[bool, about("sibling sections may share a chunk")] = True

    @property
    def fill_tokens(self) -> int:
        """How far the blocks of a section above the cap are joined."""
        return min(self.target_tokens, self.join_tokens)


class FlowOptions(Options, frozen=True):
    """The options of ``flow``."""

    strategy: ClassVar[str] = "flow"
    max_tokens: Cap = 512
    target_tokens: Target = 400
    min_tokens: Minimum = 64
    overlap_sentences: Annotated[int, about("sentences of the previous chunk that are repeated", ge=0, le=100)] = 2
    overlap: Annotated[
        Overlap, about("repeat sentences within running text only, or also over headings and out of lists")
    ] = "prose"
    normalize: Annotated[bool, about("normalize line ends, trailing spaces and repeated blank lines")] = True
    guard: Annotated[Guard, about("what happens to a chunk that is not worth embedding")] = "warn"


class SectionsOptions(Options, frozen=True):
    """The options of ``sections``."""

    strategy: ClassVar[str] = "sections"
    tokenizer: Annotated[str, about("tokenizer for counting")] = "estimate"
    max_tokens: Cap = 800
    min_tokens: Minimum = 100
    max_depth: Annotated[int, about("deeper headings are treated as text", ge=1, le=6)] = 3


class TreeOptions(Options, frozen=True):
    """The options of ``tree``."""

    strategy: ClassVar[str] = "tree"
    tree: Annotated[NamePart | None, about("the first part of node ids; by default the content type")] = None


STRATEGIES: Mapping[str, type[Options]] = {
    kind.strategy: kind for kind in (PackedOptions, FlowOptions, SectionsOptions, TreeOptions)
}
ALIASES: Mapping[str, str] = {"hard_cap": "max_tokens", "target": "target_tokens"}
"""Other names of ``packed``'s sizes."""


class ChunkOptions(TypedDict, total=False):
    """The options of ``quire.chunk`` for type checkers; a test compares them with the structs."""

    content_type: str
    breadcrumb_mode: BreadcrumbMode
    slugs: Slugs
    dialect: DialectName | None
    base_url: str
    page_marker: str
    timestamps: bool
    substitutions: Mapping[str, Any] | None
    max_tokens: int
    target_tokens: int
    min_tokens: int
    join_tokens: int
    merge_siblings: bool
    overlap_sentences: int
    overlap: Overlap
    normalize: bool
    guard: Guard
    max_depth: int
    tree: str | None
    hard_cap: int
    target: int


class FileOptions(ChunkOptions, total=False):
    """The options of ``quire.chunk_file`` and ``quire.chunk_dir`` for type checkers."""

    title: str | None
    syntax: Literal["markdown", "text"] | None
    tokenizer: object


def valid_names(strategy: str) -> tuple[str, ...]:
    """The options that ``strategy`` accepts."""
    return STRATEGIES[strategy].__struct_fields__


def own_names(strategy: str) -> tuple[str, ...]:
    """The options that ``strategy`` has and others may not."""
    return tuple(name for name in valid_names(strategy) if name not in Options.__struct_fields__)


def declaration(name: str) -> tuple[validation.Field, str]:
    """What is declared about an option, and its defaults for help texts: ``[default: doc]``, ``(packed: on)``."""
    owners = {strategy: declared[name] for strategy, kind in STRATEGIES.items() if name in (declared := fields(kind))}
    field = next(iter(owners.values()))
    if name in fields(Options):
        return field, f" [default: {field.default}]" if field.default else ""
    shown = {
        owner: ("off", "on")[own.default] if isinstance(own.default, bool) else own.default
        for owner, own in owners.items()
    }
    return field, f" ({', '.join(owner if value is None else f'{owner}: {value}' for owner, value in shown.items())})"


def default_tokenizer(strategy: str) -> str:
    """The tokenizer of a strategy; of an unknown one, which ``build`` refuses, the common one."""
    return str(fields(STRATEGIES.get(str(strategy), Options))["tokenizer"].default)


def build(strategy: str, values: Mapping[str, Any], name: Naming = str) -> Options:
    """Options for ``strategy``. An unknown option or an invalid value raises an OptionError that calls it ``name``."""
    try:
        # With their types, because 64 == 64.0.
        return _built(strategy, tuple(values.items()), tuple(map(type, values.values())), name)
    except TypeError:  # an unhashable value; validation raises an error that names it
        return _built.__wrapped__(strategy, tuple(values.items()), (), name)


@lru_cache(maxsize=256)
def _built(strategy: str, items: tuple[tuple[str, Any], ...], _types: tuple[type, ...], name: Naming) -> Options:
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        error = validation.unknown_name(str(strategy), STRATEGIES, repr, what="strategy")
        raise OptionError(error.problem, error.advice, option="strategy")
    typed = {ALIASES.get(key, key): key for key, _ in items}
    called: Naming = lambda key: name(typed.get(key, key))  # noqa: E731
    values = with_one_name(strategy, dict(items))
    for key in values:
        _refuse_foreign_option(strategy, key, name)
    kind = STRATEGIES[strategy]
    options = validation.convert(kind, values, called, ("title", "path", "syntax")) if values else kind()
    changes = _fitting_sizes(options, values, called)
    if options.dialect and "slugs" not in values:
        changes["slugs"] = DIALECTS[options.dialect].slugs
    return structs.replace(options, **changes) if changes else options


def within_window(values: Mapping[str, Any], window: int) -> Mapping[str, Any]:
    """``values`` with the window of a model as the cap, if they have no size and the strategy's own cap is larger."""
    strategy = values.get("strategy", DEFAULT_STRATEGY)
    has_size = any(values.get(name) is not None for name in ("max_tokens", "target_tokens", "min_tokens", *ALIASES))
    default = STRATEGIES[strategy]()
    if has_size or not 0 < window < (default.cap or 0):
        return values
    join = {"join_tokens": min(default.join_tokens, window)} if isinstance(default, PackedOptions) else {}
    return {"max_tokens": window, **join, **values}


def with_one_name(strategy: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` with ``hard_cap`` and ``target`` of ``packed`` under the names that every strategy has."""
    if strategy != DEFAULT_STRATEGY:
        return dict(values)
    for alias, key in ALIASES.items():
        if alias in values and key in values:
            raise OptionError(f"{alias} and {key} are two names of one option", "give one of them", option=alias)
    return {ALIASES.get(key, key): value for key, value in values.items()}


def _refuse_foreign_option(strategy: str, key: str, name: Naming) -> None:
    """Raise an OptionError for an option that other strategies have."""
    valid = valid_names(strategy)
    owners = [DEFAULT_STRATEGY] if key in ALIASES else [other for other in STRATEGIES if key in own_names(other)]
    if owners and key not in valid:
        called = f" ({strategy} calls it {name(ALIASES[key])})" if ALIASES.get(key) in valid else ""
        whose = " and ".join(map(repr, owners))
        problem = f"option {name(key)} is one of {whose}, not of strategy {strategy!r}{called}"
        raise OptionError(problem, f"valid: {', '.join(map(name, valid))}", option=key)


def _fitting_sizes(options: Options, values: Mapping[str, Any], name: Naming) -> dict[str, Any]:
    """Smaller defaults for sizes above the cap; one that was set is an error. A size alone packs up to the cap."""
    changes: dict[str, Any] = {}
    cap = options.cap or NO_LIMIT
    may_join = isinstance(options, PackedOptions) and "join_tokens" not in values
    if may_join and {"max_tokens", "target_tokens"} & {*values}:
        changes = {"join_tokens": cap, "target_tokens": values.get("target_tokens", _PACKED_TARGET)}
    sizes = ("target_tokens", cap, ""), ("join_tokens", cap, ""), ("min_tokens", cap // 2, "half of ")
    for key, most, share in sizes:
        if changes.get(key, getattr(options, key, 0)) > most:
            if key in values:
                rule = f"{name(key)} may be at most {share}{name('max_tokens')}={cap}"
                raise invalid_value(name(key), values[key], rule)
            changes[key] = most
    return changes
