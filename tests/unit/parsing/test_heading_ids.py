"""The ids that authors give their headings are slugs; they and other attributes are no part of a title."""

from __future__ import annotations

import pytest

import quire
from quire.output import record_forms


@pytest.mark.parametrize(
    ("heading", "title", "slug"),
    [
        ("## Title {#id}", "Title", "id"),
        ("## Title {#my.id-2_x}", "Title", "my.id-2_x"),
        ("## Title {#id .class key=value}", "Title", "id"),
        ('## Title {.class #id key="two words"}', "Title", "id"),
        ("## Title { #id }", "Title", "id"),
        ("## Title {: #id }", "Title", "id"),
        ("## Title {: title}", "Title", "title"),
        ("## Title {: wide #id }", "Title", "id"),
        ("## Title {title}", "Title {title}", "title-title"),
        ('## Title { data-toc-label="Short" }', "Title", "title"),
        ("## Title {.class}", "Title", "title"),
        ("## Title {/* #id */}", "Title", "id"),
        ("## Title {/* a comment */}", "Title", "title"),
        ("## Title <!-- #id -->", "Title", "id"),
        ('## <a id="id"></a>Title', "Title", "id"),
        ("## Title <a name='id'></a>", "Title", "id"),
        ("## `code` and *more* {#id}", "code and more", "id"),
        ("## `v-bind()` <sup class='badge' /> {#v-bind}", "v-bind()", "v-bind"),
        ("Title {#id}\n---", "Title", "id"),
        ('## {{% heading "prerequisites" %}}', "prerequisites", "prerequisites"),
        ('## State {{< feature-state for="v1" >}}', "State", "state"),
        ('## {{< tooltip text="Pod" term="pod" >}} states', "Pod states", "pod-states"),
        ("## Use {braces}", "Use {braces}", "use-braces"),
        ("## Use `{#id}`", "Use {#id}", "use-id"),
        ("(the-id)=\n## Title", "Title", "the-id"),
        ('<a id="the-id"></a>\n\n## Title', "Title", "the-id"),
        ('<a name="the-id">\n\n## Title', "Title", "the-id"),
        ("(other)=\n(the-id)=\n## Title", "Title", "the-id"),
        ("Some text (see)=\n\n## Title", "Title", "title"),
    ],
)
def test_title_and_id(heading: str, title: str, slug: str) -> None:
    section = quire.parse(f"{heading}\n\ntext\n").sections[1]
    assert (section.title, section.slug, section.anchor) == (title, slug, slug)


def test_the_made_slug_is_kept() -> None:
    sections = quire.parse("# Title {#id}\n\na\n\n# Title\n\nb\n\n# Other {#id}\n\nc\n").sections[1:]
    assert [section.anchor for section in sections] == ["id", "title", "id-1"]


def test_ids_are_in_records() -> None:
    chunk = quire.chunk("# A {#x}\n\na\n\n## B {#y}\n\nb\n", "sections", path="a.md", min_tokens=0)[-1]
    assert (chunk.header_path, chunk.header_slugs, chunk.section_slug) == (("A", "B"), ("x", "y"), "y")
    assert chunk.node_id.endswith("a.md#y")
    assert "{#" not in chunk.embed_text.split("\n")[0]


@pytest.mark.parametrize("unit", ['{{< a "', "{/* ", "<!-- ", "<a id=", "{#a ", "   "])
def test_a_heading_with_thousands_of_openings_is_its_own_title(unit: str) -> None:
    text = f"# T {unit * 20_000}x\n\ntext\n"
    assert quire.parse(text).sections[1].title.startswith("T")
    assert quire.verify(text, quire.chunk(text)) == []


@pytest.mark.parametrize(
    "above", ["(id)=\n", "(id)=\n\n", "(a)=\n(id)=\n", "<a id='id'></a>\n", "<a name='id'>\n\n", "(id)=\r\n"]
)
def test_an_id_above_a_heading_is_in_its_section(above: str) -> None:
    text = f"# A\n\ntext\n\n{above}## B\n\nmore\n"
    document = quire.parse(text)
    assert [text[section.start : section.body_end] for section in document.sections[1:]] == [
        "# A\n\ntext\n\n",
        f"{above}## B\n\nmore\n",
    ]
    for strategy in ("packed", "flow", "sections", "tree"):
        assert (
            quire.verify(
                text, quire.chunk(text, strategy, min_tokens=0) if strategy != "tree" else quire.chunk(text, strategy)
            )
            == []
        )
    record = record_forms.compact(quire.chunk(text, "sections", min_tokens=0)[1])
    assert (record["title"], record["body"]) == ("B", "more")


@pytest.mark.parametrize("above", ["Text\n(id)=\n", "(id)= text\n\n", "<a id='id'>text</a>\n\n"])
def test_text_above_a_heading_is_not_in_its_section(above: str) -> None:
    text = f"# A\n\n{above}## B\n\nmore\n"
    assert text[quire.parse(text).sections[2].start :] == "## B\n\nmore\n"
