"""The arguments of a tool, which a struct declares: their JSON Schema, and other names that models use."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from msgspec import Meta, Struct

from quire.mcp.answers import LEAST_TOKENS, Answer, Service
from quire.model.validation import check, convert, fields

_ALIASES = {"q": "query", "question": "query", "max_results": "limit", "n": "limit", "section": "id", "file": "path"}
_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "integer"}
"""JSON's types by those of defaults; the only fields without a default are numbers."""

Query = Annotated[str, Meta(min_length=1, description="a question or words")]
Limit = Annotated[int, Meta(ge=LEAST_TOKENS)]
Cursor = Annotated[str, Meta(description="from the last answer")]


class Tool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool with its arguments. Agents read the docstrings; every word costs tokens in every session."""

    title: ClassVar[str]

    @classmethod
    def checked(cls, arguments: Mapping[str, Any]) -> Self:
        """A call with arguments as an agent wrote them. Wrong ones raise an error that says what to do."""
        declared = fields(cls)
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            key = name if name in declared else _ALIASES.get(name, name)
            values[key] = value
            if isinstance(value, str) and key in declared:
                if declared[key].required:
                    values[key] = value.strip() or None
                elif not isinstance(declared[key].default, str):  # some models quote numbers
                    values[key] = check(key, value[:12], declared[key].type, strict=False)
        return convert(cls, {key: value for key, value in values.items() if value is not None}, what="argument")

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema of the arguments, as short as possible."""
        properties = {}
        for name, field in fields(cls).items():
            rules: dict[str, Any] = dict(zip(("minimum", "maximum"), field.limits, strict=True))
            rules |= {"description": field.meaning or None, "enum": list(field.choices) or None}
            rules["default"] = field.default or None
            kind = "string" if field.required else _TYPES[type(field.default)]
            properties[name] = {"type": kind} | {key: value for key, value in rules.items() if value is not None}
        required = [name for name, field in fields(cls).items() if field.required]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def answer(self, service: Service) -> Answer:
        """The answer to the call."""
        raise NotImplementedError
