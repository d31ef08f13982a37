"""Template variables: their values in titles and in texts to embed, while the source stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.errors import OptionError
from quire.model.options import STRATEGIES
from quire.model.substitutions import substitute, title_text

VALUES = {
    "es": "Elasticsearch",
    "variables.product.vscode": "VS Code",
    "version": "3.1",
    "config": {"site_name": "Site"},
}


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("{{es}} guide", "Elasticsearch guide"),
        ("{{ es | uc }}", "Elasticsearch"),
        ("{{- es }}", "Elasticsearch"),
        ("Use {% data variables.product.vscode %} now", "Use VS Code now"),
        ('Version {{< param "version" >}}', "Version 3.1"),
        ("{{ config.site_name }}", "Site"),
        ("`{{es}}` in code", "Elasticsearch in code"),
        ("{% data variables.product.prodname_vscode %}", "prodname_vscode"),
        ("Of {{ .kibana }} and {{version.stack | M.M}}", "Of kibana and stack"),
        ('{{< param "product.name" >}}', "name"),
        ("{{ macro('x') }} text", "macro text"),
        ("{% ifversion ghes %}Servers{% endif %}", "Servers"),
        ("{% include title.md %}", "include title.md"),
        ('{{% heading "prerequisites" %}}', "prerequisites"),
        ('`{{</* param "version" */>}}`', '{{</* param "version" */>}}'),
        ("`{{ unknown }}` and {{unknown}}", "{{ unknown }} and unknown"),
        ("``a ` {{unknown}}``", "a ` {{unknown}}"),
        ("Braces {{ }} and {a}", "Braces {{ }} and {a}"),
        ("{{es}} {#id}", "Elasticsearch"),
    ],
)
def test_titles(heading: str, title: str) -> None:
    for text in (f"# {heading}\n\ntext\n", f"{heading}\n===\n\ntext\n"):
        document = quire.parse(text, substitutions=VALUES)
        assert [section.title for section in document.sections[1:]] == [title]


def test_slugs_breadcrumbs_and_texts_to_embed_have_the_values() -> None:
    text = "# {{es}} guide\n\n## About {{slm}}\n\nRead {{slm}} of {{ es }}, not {{unknown}}.\n"
    values = {"es": "Elasticsearch", "slm": "snapshot lifecycle management", "unused": "x"}
    [chunk] = chunks = quire.chunk(text, substitutions=values)
    assert chunk.original_text == text.strip()
    assert (chunk.source_position.char_start, chunk.source_position.char_end) == (0, len(text) - 1)
    assert chunk.embed_text.endswith("\n\nRead snapshot lifecycle management of Elasticsearch, not {{unknown}}.")
    assert chunk.header_path == ("Elasticsearch guide", "About snapshot lifecycle management")
    assert chunk.section_slug == "about-snapshot-lifecycle-management"
    assert chunk.metadata["chunkingOptions"]["substitutions"] == {name: values[name] for name in ("es", "slm")}
    assert quire.verify(text, chunks) == quire.verify(text, list(chunks)) == []


@pytest.mark.parametrize(
    "top",
    [
        "---\nsub:\n  name: Value\n---\n",
        "---\nsubstitutions:\n  name: Value\n---\n",
        "---\nmyst:\n  substitutions:\n    name: Value\n---\n",
    ],
)
def test_front_matter_comes_before_other_values(top: str) -> None:
    [chunk] = quire.chunk(f"{top}# A {{{{name}}}}\n\ntext\n", substitutions={"name": "other"})
    assert chunk.section_title == "A Value"


def test_the_title_in_front_matter_and_parameters_of_the_page() -> None:
    text = '---\ntitle: "{{es}} {{page.release}}"\nrelease: 9\n---\n# Since {{< param release >}}\n\ntext\n'
    document = quire.parse(text, substitutions=VALUES)
    assert document.title == "Elasticsearch 9"
    assert document.sections[1].title == "Since 9"
    assert quire.parse("---\nrelease: 9\n---\n# Since {{release}}\n").sections[1].title == "Since release"


def test_without_variables_nothing_changes() -> None:
    text = "# A {#id}\n\n{{ b }}\n"
    assert quire.chunk(text, substitutions={"c": "d"}) == quire.chunk(text)


def test_commonmark_has_only_the_values_that_are_given() -> None:
    document = quire.parse("# {{es}} {{x}}\n", dialect="commonmark", substitutions=VALUES)
    assert document.sections[1].title == "Elasticsearch {{x}}"


def test_links_have_the_values() -> None:
    text = "[{{es}} guide]({{docs}}/a.md) [b]({% data variables.url %}/b.md) [c]({{ unknown }}/c.md)\n"
    links = quire.parse(text, substitutions={"es": "E", "docs": "guide", "variables.url": "/u"}).links
    assert [(link.text, link.target) for link in links] == [
        ("E guide", "guide/a.md"),
        ("b", "/u/b.md"),
        ("c", "{{unknown}}/c.md"),
    ]


@pytest.mark.parametrize("values", [{"a": [1]}, {"a": None}, {1: "a"}, "a", ["a"]])
def test_other_values_are_refused(values: object) -> None:
    with pytest.raises(OptionError, match="a table of texts"):
        quire.chunk("# A\n", substitutions=values)  # type: ignore[arg-type]


def test_a_parsed_document_has_its_values() -> None:
    with pytest.raises(OptionError, match=r"quire\.parse"):
        quire.chunk(quire.parse("# A\n"), substitutions={"a": "b"})


@given(
    st.lists(
        st.sampled_from(["# {{a}}\n\n", "## B {{b}} c\n\n", "{{a}} {{b}} word. ", "\n\n", "| {{b}} |\n", "x {{ a }}\n"])
    ),
    st.text(max_size=300),
    st.sampled_from(sorted(STRATEGIES)),
)
def test_the_laws_hold_whatever_the_values_are(parts: list[str], value: str, strategy: str) -> None:
    """A text that its values would make too long for the cap keeps its variables."""
    text = "".join(parts)
    sizes = {} if strategy == "tree" else {"max_tokens": 40}
    chunks = quire.chunk(text, strategy, substitutions={"a": value, "b": "*b* `c`"}, **sizes)
    assert quire.verify(text, chunks) == []


def test_a_value_that_does_not_fit_the_cap() -> None:
    values = {"a": "word " * 100}
    [chunk] = quire.chunk("{{a}} text", max_tokens=32, substitutions=values)
    assert chunk.embed_text == "{{a}} text"
    assert title_text("{{a}}", {}) == "a"
    assert substitute("{{a}}", {"a": "{{b}}", "b": "c"}) == "{{b}}"
