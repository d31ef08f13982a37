"""The links of a document: text, span and target."""

from __future__ import annotations

import pytest

import quire


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ('See [a `b` *c*](x.md#y "title").', [("a b c", "x.md#y")]),
        ("[two\nlines](<a b.md>)", [("two lines", "a b.md")]),
        ("[t][r], [r][] and [r]\n\n[r]: ../r.md", [("t", "../r.md"), ("r", "../r.md"), ("r", "../r.md")]),
        (
            "<https://a.example> and [e](mailto:a@b.c)",
            [("https://a.example", "https://a.example"), ("e", "mailto:a@b.c")],
        ),
        ("[[page]], [[page#Part|text]]", [("page", "page"), ("text", "page#Part")]),
        ("| a |\n|---|\n| [[x\\|y]] |", [("y", "x")]),
        ("[[1]](x.md), [[2]][r]\n\n[r]: y.md", [("1", "x.md"), ("2", "y.md")]),
        ("![image](a.png) [![image](b.png)](c.md) ![[d]]", [("image", "c.md")]),
        ("`[a](b)`\n\n    [a](b)\n\n```\n[a](b)\n```\n", []),
        ("<!-- [a](b) --> \\[a](b) [a] (b)", []),
        ('[a]({{< ref "x.md#y" >}}), [b]({{% relref "/docs/z/" %}})', [("a", "x.md#y"), ("b", "/docs/z/")]),
        ("[a]({% link docs/x.md %}#y), [b]({{ site.baseurl }}/z)", [("a", "docs/x.md#y"), ("b", "/z")]),
        ("{{< note >}}\n[a](b)\n{{< /note >}}\n", [("a", "b")]),
        (
            "{{< highlight go >}}\n[a](b)\n{{< /highlight >}}\n\n{% comment %}[a](b){% endcomment %} [c](d)",
            [("c", "d")],
        ),
        (
            '!!! note "[t](u)"\n    [a](b)\n\n        [c](d)\n\n=== "Tab"\n\n    - [e](f)\n',
            [("t", "u"), ("a", "b"), ("e", "f")],
        ),
        ("---\nx: '[a](b)'\n---\n# [c](d)\n\n> - [e](f)\n", [("c", "d"), ("e", "f")]),
        ("\ufeff\u00e9\U0001f600 [\u00fc](\u00e4.md)\r\n\r[b](c)\t\u00e9", [("\u00fc", "\u00e4.md"), ("b", "c")]),
        ("{{< / >}} [a](b) {{< /x >}}", [("a", "b")]),
    ],
)
def test_links(text: str, links: list[tuple[str, str]]) -> None:
    found = quire.parse(text).links
    assert [(link.text, link.target) for link in found] == links
    for link in found:
        assert text[link.start] in "[<"
        assert text[link.end - 1] in ")]>"


def test_plain_text_has_no_links() -> None:
    assert quire.parse("[a](b)", path="a.txt").links == ()
