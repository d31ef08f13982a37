"""What should not be torn in a line of prose."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.cut.words import inline_atoms, outside


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("plain text", []),
        ("a `b` c ``d`e`` f", ["`b`", "``d`e``"]),
        ("`a``b`", ["`a``b`"]),
        (r"\`a`b`", ["`b`"]),
        (r"`a\`b`", ["`a\\`"]),
        ("`open ``open", []),
        ("[a](b) and [c d](<e f>)", ["[a](b)", "[c d](<e f>)"]),
        ("[a](b(c)d) [e](f \"g) h\") [i](j 'k')", ["[a](b(c)d)", '[e](f "g) h")', "[i](j 'k')"]),
        ("[a [b] c](d)", ["[a [b] c](d)"]),
        ("[a [b](c) d](e)", ["[b](c)"]),
        ("[![a](b)](c)", ["[![a](b)](c)"]),
        ("![a [b](c)](d)", ["![a [b](c)](d)"]),
        ("[`]`](a)", ["[`]`](a)"]),
        ("[a`b](c) `", ["`b](c) `"]),
        (r"[a\]b](c)", [r"[a\]b](c)"]),
        (r"\[a](b) !\[c](d)", []),
        ("[a b][c d] [e f][] [g h]", ["[a b][c d]", "[e f][]", "[g h]"]),
        ("[[a|b c]] ![[d e]]", ["[[a|b c]]", "![[d e]]"]),
        ("x[^1] y", ["[^1]"]),
        (f"[{'long ' * 30}] x", []),
        (f"[{'long ' * 30}](x)", [f"[{'long ' * 30}](x)"]),
        ("<http://a.b> <c@d.e> a < b", ["<http://a.b>", "<c@d.e>"]),
        ("<b c='d > e'>f</b> <br /> <!-- g -- h -->", ["<b c='d > e'>", "</b>", "<br />", "<!-- g -- h -->"]),
        ("[open (open <open ![open", []),
        ("closed] closed) closed>", []),
        ("[]]!:", ["[]"]),
    ],
)
def test_atoms(text: str, atoms: list[str]) -> None:
    assert [text[first:last] for first, last in inline_atoms(text, 0, len(text))] == atoms


def test_only_the_span_is_read() -> None:
    text = "`a` [b](c) `d`"
    assert inline_atoms(text, 2, 11) == [(4, 10)]


@given(st.text(st.sampled_from("ab `[]()!<>\\\"'/:@-^\n"), max_size=60))
def test_atoms_are_ascending_disjoint_and_inside(text: str) -> None:
    atoms = inline_atoms(text, 0, len(text))
    assert all(0 <= first < last <= len(text) for first, last in atoms)
    assert all(last <= following for (_, last), (following, _) in pairwise(atoms))


def test_outside() -> None:
    assert outside([1, 2, 3, 4, 5, 9], [(2, 4), (4, 6)]) == [1, 2, 4, 9]
    assert outside([1, 2], []) == [1, 2]
