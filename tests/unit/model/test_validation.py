"""Values against the struct that declares them: one wording for every kind of field, and what the declaration says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from quire.errors import OptionError
from quire.model.validation import NO_LIMIT, check, convert, fields


class Inner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    share: Annotated[float, Meta(ge=0, le=1)] = 0.5


class Everything(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    needed: Annotated[str, Meta(min_length=1, description="what it is for")]
    count: Annotated[int, Meta(ge=1, le=NO_LIMIT)] = 3
    few: Annotated[int, Meta(ge=1, le=6)] | None = None
    number: float = 1.5
    choice: Annotated[Literal["z", "a", "m"] | None, Meta(description="one of three")] = None
    is_on: bool = True
    text: str = ""
    texts: tuple[str, ...] = ()
    pattern: Annotated[str, Meta(pattern="^x", extra={"rule": "a word with x"})] = "x"
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"count": 0}, "count=0 is invalid: must be a whole number, at least 1"),
        ({"count": 1.0}, "count=1.0 is invalid: must be a whole number, at least 1"),
        ({"count": True}, "count=True is invalid: must be a whole number, at least 1"),
        ({"few": 7}, "few=7 is invalid: must be a whole number from 1 to 6"),
        ({"number": "2"}, "number='2' is invalid: must be a number"),
        ({"choice": "b"}, "choice='b' is invalid: must be one of 'z', 'a', 'm'"),
        ({"is_on": 1}, "is_on=1 is invalid: must be true or false"),
        ({"text": None}, "text=None is invalid: must be a text"),
        ({"needed": ""}, "needed='' is invalid: must be a text that is not empty"),
        ({"texts": "one"}, "texts='one' is invalid: must be a list of texts"),
        ({"pattern": "y"}, "pattern='y' is invalid: must be a word with x"),
        ({"inner": 3}, "inner=3 is invalid: must be a table"),
        ({"inner": {"share": 2}}, "inner.share=2 is invalid: must be a number from 0 to 1"),
        ({"inner": {"shar": 1}}, "unknown option inner.shar (did you mean inner.share?); valid: inner.share"),
        ({"inner": {"share": float("nan")}}, "inner.share=nan is invalid: must be a number from 0 to 1"),
        ({"cuont": 3}, "unknown option cuont (did you mean count?); valid: needed, count, few"),
        ({"x" * 500: 3}, f"unknown option {'x' * 80}; valid: needed"),
    ],
    ids=repr,
)
def test_what_is_wrong_is_named(values: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        convert(Everything, {"needed": "x", **values})
    assert str(caught.value).startswith(said)


def test_a_field_that_is_missing() -> None:
    with pytest.raises(OptionError, match=r"^needed is missing; what it is for$"):
        convert(Everything, {})


def test_names_are_those_that_the_user_knows() -> None:
    def flag(name: str) -> str:
        return f"--{name}"

    with pytest.raises(OptionError, match=r"^--inner\.share=7 is invalid"):
        convert(Everything, {"needed": "x", "inner": {"share": 7}}, flag)
    with pytest.raises(OptionError, match=r"^unknown key --cont \(did you mean --count\?\); valid: --path, --needed,"):
        convert(Everything, {"needed": "x", "cont": 7}, flag, ("path",), "key")


def test_valid_values() -> None:
    made = convert(Everything, {"needed": "x", "inner": {"share": 1}, "choice": "m", "number": 2})
    assert (made.inner.share, made.choice, made.number, made.count) == (1.0, "m", 2.0, 3)


def test_what_a_struct_declares() -> None:
    declared = fields(Everything)
    assert [name for name, field in declared.items() if field.default is None] == ["needed", "few", "choice"]
    assert (declared["choice"].choices, declared["choice"].meaning) == (("z", "a", "m"), "one of three")
    assert declared["few"].limits == (1, 6)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("count", "7", 7), ("number", "7", 7.0), ("is_on", "false", False), ("choice", "a", "a")],
)
def test_values_that_are_written_as_texts(name: str, text: str, value: object) -> None:
    assert check("VARIABLE", text, fields(Everything)[name].type, strict=False) == value


def test_a_text_that_is_no_value() -> None:
    with pytest.raises(OptionError, match=r"^VARIABLE='x' is invalid: must be a whole number, at least 1$"):
        check("VARIABLE", "x", fields(Everything)["count"].type, strict=False)


def test_one_value() -> None:
    assert check("n", 3, Annotated[int, Meta(ge=1)]) == 3
    with pytest.raises(OptionError, match=r"^n=0 is invalid: must be a whole number, at least 1$"):
        check("n", 0, Annotated[int, Meta(ge=1)])


def test_a_value_that_only_msgspec_refuses_is_not_hidden() -> None:
    class Pair(Struct, forbid_unknown_fields=True):
        both: int | str = 0

    with pytest.raises((OptionError, msgspec.ValidationError)):
        convert(Pair, {"both": []})
