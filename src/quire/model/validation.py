"""Values checked against the frozen struct that declares them, with one wording for every mistake."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

from quire.errors import InputError, OptionError, did_you_mean, invalid_value

NO_LIMIT = 10**9  # the maximum of numbers without a useful one
REGENERATE = "regenerate it from its document"  # the advice for a damaged chunk record

_ITEMS = {inspect.StructType: "tables", inspect.IntType: "whole numbers"}

Kind = TypeVar("Kind")
Naming: TypeAlias = Callable[[str], str]
"""Turns the name of a field into its name in messages: ``--max-tokens``, ``quire.toml: search.limit``."""


def about(description: str, **limits: Any) -> msgspec.Meta:
    """The meaning of a field, with its limits."""
    return msgspec.Meta(description=description, **limits)


class Field(NamedTuple):
    """What a struct declares about one of its fields."""

    name: str
    default: Any  # None for a required field
    type: Any  # its annotation, for ``msgspec.convert``
    required: bool = False

    @property
    def meaning(self) -> str:
        """Its description."""
        metas = (meta for part in _parts(self.type) for meta in getattr(part, "__metadata__", ()))
        return next((meta.description for meta in metas if meta.description), "")

    @property
    def sentence(self) -> str:
        """Its description as a sentence."""
        return f"{self.meaning[:1].upper()}{self.meaning[1:]}."

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values to choose from, in the order of their declaration; empty if there are others."""
        return next((get_args(part) for part in _parts(self.type) if get_origin(part) is Literal), ())

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The minimum and the maximum of a number."""
        info = _unwrapped(self.type)[0]
        return getattr(info, "ge", None), getattr(info, "le", None)

    @property
    def rule(self) -> str:
        """The values that it may have, in words."""
        info, rule = _unwrapped(self.type)
        return rule or self._type_rule(info)

    def _type_rule(self, info: inspect.Type) -> str:
        match info:
            case inspect.LiteralType():
                return f"one of {', '.join(map(repr, self.choices))}"
            case inspect.BoolType():
                return "true or false"
            case inspect.IntType() | inspect.FloatType():
                kind = "a whole number" if isinstance(info, inspect.IntType) else "a number"
                if info.ge is not None:
                    is_open = info.le is None or info.le == NO_LIMIT
                    kind += f", at least {info.ge:g}" if is_open else f" from {info.ge:g} to {info.le:g}"
                return kind
            case inspect.StrType():
                return "a text" if info.min_length is None else "a text that is not empty"
            case inspect.ListType() | inspect.VarTupleType():
                return f"a list of {_ITEMS.get(type(info.item_type), 'texts')}"
        return "a table"


@cache
def fields(kind: type[Any]) -> Mapping[str, Field]:
    """The fields of a struct by the names that values have."""
    return {
        field.encode_name: Field(field.name, _default(field), field.type, field.required)
        for field in msgspec.structs.fields(kind)
    }


def _default(declared: Any) -> Any:
    default = declared.default_factory() if declared.default_factory is not msgspec.NODEFAULT else declared.default
    return None if default is msgspec.NODEFAULT else default


def _parts(annotation: Any) -> Iterator[Any]:
    """An annotation and those inside of it."""
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _unwrapped(annotation: Any) -> tuple[inspect.Type, str]:
    """A type without its annotations and ``None``, of several a struct, and the rule that was given in words."""
    info, rule = inspect.type_info(annotation), ""
    while isinstance(info, inspect.Metadata | inspect.UnionType):
        if isinstance(info, inspect.Metadata):
            rule = rule or (info.extra or {}).get("rule", "")
            info = info.type
        else:
            members = [member for member in info.types if not isinstance(member, inspect.NoneType)]
            info = max(members, key=lambda member: isinstance(member, inspect.StructType))
    return info, rule


def convert(
    kind: type[Kind], values: Mapping[str, Any], name: Naming = str, besides: Sequence[str] = (), what: str = "option"
) -> Kind:
    """A struct of ``values``; an ``OptionError`` names the unknown ``what`` or the invalid value, as ``name`` says."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError:
        for problem in _problems(kind, values, name, besides, what):
            raise problem from None
        raise


def check(name: str, value: Any, kind: Any, *, strict: bool = True) -> Any:
    """``value`` as an annotated type; an ``OptionError`` calls it ``name``. If not ``strict``, it may be a text."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError:
        raise invalid_value(name, value, f"must be {Field(name, None, kind).rule}") from None


def _problems(
    kind: Any, values: Mapping[str, Any], name: Naming, besides: Sequence[str], what: str
) -> Iterator[OptionError]:
    """What is wrong with the values of a struct."""
    declared = fields(kind)
    for key, value in values.items():
        if key in declared:
            yield from _value_problems(declared[key].type, value, key, name, what)
        elif kind.__struct_config__.forbid_unknown_fields:
            yield unknown_name(key, declared, name, besides, what)
    for key, field in declared.items():
        if field.required and key not in values:
            yield OptionError(f"{name(key)} is missing", field.meaning, option=key)


def _value_problems(annotation: Any, value: Any, key: str, name: Naming, what: str) -> Iterator[OptionError]:
    """What is wrong with a value; of structs, also in a table or a list, the innermost value that is wrong first."""
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        below: Naming = lambda inner: name(f"{key}.{inner}")  # noqa: E731
        info = _unwrapped(annotation)[0]
        if isinstance(info, inspect.StructType) and isinstance(value, Mapping):
            yield from _problems(info.cls, value, below, (), what)
            return
        items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for inner, item in items if (kind := _struct_items(annotation)) else ():
            yield from _value_problems(kind, item, str(inner), below, what)
        yield invalid_value(name(key), value, f"must be {Field(key, None, annotation).rule}")


def _struct_items(annotation: Any) -> Any:
    """The annotation of the values of a table or of the items of a list, if they are structs."""
    inside = next((get_args(part) for part in _parts(annotation) if get_origin(part) in (dict, list, tuple)), ())
    kinds = [kind for kind in inside if kind is not Ellipsis]
    return next((kind for kind in kinds if isinstance(_unwrapped(kind)[0], inspect.StructType)), None)


def unknown_name(
    key: str, valid: Iterable[str], name: Naming = str, besides: Sequence[str] = (), what: str = "option"
) -> OptionError:
    """The error for a name that is not a field, with a similar one and the valid names."""
    names = list(valid)
    advice = f"valid: {', '.join(map(name, (*besides, *names)))}"
    return OptionError(f"unknown {what} {name(key[:80])}{did_you_mean(key, names, name)}", advice, option=key)


def check_record(record: Any, kind: Any, *, name: str) -> Any:
    """A chunk record as an instance of ``kind``; an InputError calls the record ``name``."""
    if not isinstance(record, Mapping):
        raise InputError(name, "is not a chunk record", "a record is one JSON object")
    try:
        return convert(kind, record)
    except (OptionError, UnicodeEncodeError) as error:
        problem = getattr(error, "message", error)  # a lone surrogate in place of another type has none
        raise InputError(name, f"is not a chunk record: {problem}", f"correct it, or {REGENERATE}") from None
