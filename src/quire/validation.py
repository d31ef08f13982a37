"""Values checked against the struct that declares them, with one wording for every mistake.

An option, a setting or an argument is a field of a frozen msgspec struct. Its annotation has the type, the range and
the meaning, its default is the default:

    max_tokens: Annotated[int, Meta(ge=32, description="maximum tokens per chunk")] = 1024

``convert`` makes a struct of values and says what is wrong with them; ``fields`` tells the command line, the
configuration and the documentation what there is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

from quire.errors import InputError, OptionError, did_you_mean, invalid_value

NO_LIMIT = 10**9
"""The maximum of numbers without a useful one."""
REGENERATE = "regenerate it from its document"
"""The advice for a damaged chunk record."""

_ITEMS = {inspect.StructType: "tables", inspect.IntType: "whole numbers"}

Kind = TypeVar("Kind")
Naming: TypeAlias = Callable[[str], str]
"""Turns the name of a field into its name in messages: ``--max-tokens``, ``quire.toml: search.limit``."""


class Field(NamedTuple):
    """What a struct declares about one of its fields."""

    name: str
    default: Any
    """None for a required field."""
    type: Any
    """Its annotation, for ``msgspec.convert``."""

    @property
    def meaning(self) -> str:
        """Its description."""
        return _meaning(self.type)

    @property
    def rule(self) -> str:
        """The values that it may have, in words."""
        return _rule(self.type)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values to choose from; empty if there are others."""
        return _choices(self.type)

    @property
    def least(self) -> float | None:
        """The minimum of a number."""
        return getattr(_unwrapped(self.type)[0], "ge", None)

    @property
    def most(self) -> float | None:
        """The maximum of a number."""
        return getattr(_unwrapped(self.type)[0], "le", None)

    @property
    def sentence(self) -> str:
        """Its description as a sentence."""
        return f"{self.meaning[:1].upper()}{self.meaning[1:]}."


@cache
def fields(kind: type[Any]) -> Mapping[str, Field]:
    """The fields of a struct by the names that values have."""
    return {field.encode_name: Field(field.name, _default(field), field.type) for field in msgspec.structs.fields(kind)}


def _default(declared: Any) -> Any:
    default = declared.default_factory() if declared.default_factory is not msgspec.NODEFAULT else declared.default
    return None if default is msgspec.NODEFAULT else default


def _unwrapped(annotation: Any) -> tuple[inspect.Type, str]:
    """A type without its annotations and ``None``, and the rule that was given in words."""
    info, rule = inspect.type_info(annotation), ""
    while isinstance(info, inspect.Metadata | inspect.UnionType):
        if isinstance(info, inspect.Metadata):
            rule = rule or (info.extra or {}).get("rule", "")
            info = info.type
        else:
            info = next(member for member in info.types if not isinstance(member, inspect.NoneType))
    return info, rule


def _meaning(annotation: Any) -> str:
    described = [meta.description for meta in getattr(annotation, "__metadata__", ()) if meta.description]
    return described[0] if described else next(filter(None, map(_meaning, get_args(annotation))), "")


def _choices(annotation: Any) -> tuple[Any, ...]:
    """The values of a ``Literal`` in the order of its declaration, which msgspec does not keep."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next(filter(None, map(_choices, get_args(annotation))), ())


def _rule(annotation: Any) -> str:
    info, rule = _unwrapped(annotation)
    return rule or _type_rule(info, annotation)


def _type_rule(info: inspect.Type, annotation: Any) -> str:
    match info:
        case inspect.LiteralType():
            return f"one of {', '.join(map(repr, _choices(annotation)))}"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType() | inspect.FloatType():
            return _range(info, "a whole number" if isinstance(info, inspect.IntType) else "a number")
        case inspect.StrType():
            return "a text" if info.min_length is None else "a text that is not empty"
        case inspect.ListType() | inspect.VarTupleType():
            return f"a list of {_ITEMS.get(type(info.item_type), 'texts')}"
    return "a table"


def _range(info: inspect.IntType | inspect.FloatType, kind: str) -> str:
    if info.ge is None:
        return kind
    if info.le is None or info.le == NO_LIMIT:
        return f"{kind}, at least {info.ge:g}"
    return f"{kind} from {info.ge:g} to {info.le:g}"


def convert(
    kind: type[Kind], values: Mapping[str, Any], name: Naming = str, besides: Sequence[str] = (), what: str = "option"
) -> Kind:
    """A struct of ``values``; an ``OptionError`` names the unknown field or the invalid value.

    ``name`` gives the names in messages, ``besides`` are names that are valid elsewhere, ``what`` is the word for a
    field.
    """
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError:
        problem = _problem(kind, values, name, besides, what)
        if problem is None:
            raise
        raise problem from None


def check(name: str, value: Any, kind: Any) -> Any:
    """``value`` as an annotated type; an ``OptionError`` calls it ``name``."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise invalid_value(name, value, f"must be {_rule(kind)}") from None


def _problem(
    kind: Any, values: Mapping[str, Any], name: Naming, besides: Sequence[str], what: str
) -> OptionError | None:
    declared = fields(kind)
    for key, value in values.items():
        if key not in declared:
            if kind.__struct_config__.forbid_unknown_fields:
                return unknown_name(key, declared, name, besides, what)
            continue
        try:
            msgspec.convert(value, declared[key].type)
        except msgspec.ValidationError:
            inner = _unwrapped(declared[key].type)[0]
            below = inner.cls if isinstance(inner, inspect.StructType) and isinstance(value, Mapping) else None
            if below:
                return _problem(below, value, lambda field, key=key: name(f"{key}.{field}"), (), what)  # type: ignore[misc]
            return invalid_value(name(key), value, f"must be {declared[key].rule}")
    required = (field.encode_name for field in msgspec.structs.fields(kind) if field.required)
    missing = next((key for key in required if key not in values), None)
    return OptionError(f"{name(missing)} is missing", declared[missing].meaning, option=missing) if missing else None


def unknown_name(
    key: str, valid: Iterable[str], name: Naming = str, besides: Sequence[str] = (), what: str = "option"
) -> OptionError:
    """The error for a name that is not a field, with a similar one and the valid names."""
    names = list(valid)
    advice = f"valid: {', '.join(map(name, (*besides, *names)))}"
    return OptionError(f"unknown {what} {name(key[:80])}{did_you_mean(key, names, name)}", advice, option=key)


def from_text(name: str, text: str, field: Field) -> Any:
    """The value of a field that is written as a text, as in an environment variable."""
    try:
        return msgspec.convert(text, field.type, strict=False)
    except msgspec.ValidationError:
        raise invalid_value(name, text, f"must be {field.rule}") from None


def check_record(record: Any, kind: Any, *, name: str, shown: Naming = str) -> Any:
    """A chunk record as an instance of ``kind``; an InputError calls the record ``name``."""
    if not isinstance(record, Mapping):
        raise InputError(name, "is not a chunk record", "a record is one JSON object")
    try:
        return convert(kind, record, shown)
    except UnicodeEncodeError:
        problem = "a lone surrogate in a field name or in place of another type"
    except OptionError as error:
        problem = error.message
    raise InputError(name, f"is not a chunk record: {problem}", f"correct it, or {REGENERATE}")
