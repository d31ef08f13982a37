"""``slugs="auto"``: the rule by which most links of a tree lead to a section; and dialects, which have one."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.links.auto_slugs import choose_slugs, slugs_of_files
from quire.model.dialects import DIALECTS, dialect_of
from quire.parsing.slugs import RULES
from quire.read.discover import Discovery

PAGE = "# Page\n\n## Q: A & B?\n\ntext\n\n## É_f\n\ntext\n"


def chosen(*links: str) -> str:
    texts = {"page.md": PAGE, "links.md": " ".join(f"[x]({link})" for link in links)}
    return choose_slugs({path: quire.parse(text, path=path) for path, text in texts.items()})


@pytest.mark.parametrize(
    ("links", "rule"),
    [
        ([], "github"),
        (["page.md#page"], "github"),
        (["page.md#q-a--b", "page.md#é_f"], "github"),
        (["page.md#q-a-b", "page.md#é-f"], "blackfriday"),
        (["page.md#q-a-b", "page.md#e-f"], "vitepress"),
        (["page.md#q-a-b", "page.md#e_f"], "mkdocs"),
        (["page.md#q_a_b"], "underscore"),
        (["page.md#q-a--b", "page.md#q-a-b", "page.md#e_f"], "mkdocs"),
        (["gone.md#q-a-b", "https://example.org/page.md#q-a-b"], "github"),
    ],
)
def test_the_rule_of_most_links(links: list[str], rule: str) -> None:
    assert chosen(*links) == rule


def test_every_dialect_has_a_rule() -> None:
    assert {dialect.slugs for dialect in DIALECTS.values()} <= RULES.keys()


@pytest.mark.parametrize(
    ("marker", "dialect"),
    [
        ("mkdocs.yml", "mkdocs"),
        ("site/docusaurus.config.ts", "docusaurus"),
        ("site/docs/conf.py", "myst"),
        ("hugo.toml", "hugo"),
        ("_config.yml", "jekyll"),
        ("site/docs/.vitepress/config.js", "vitepress"),
        (".obsidian/app.json", "obsidian"),
        ("README.md", None),
        ("site/docs/below/mkdocs.yml", None),
    ],
)
def test_files_beside_or_above_show_the_dialect(tmp_path: Path, marker: str, dialect: str | None) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "site/docs").mkdir(parents=True)
    (tmp_path / marker).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / marker).write_text("")
    assert dialect_of(tmp_path / "site/docs") == dialect


def test_the_dialect_decides_between_equal_rules(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "bytes.md").write_bytes(b"\xff")  # unreadable
    found = Discovery(str(tmp_path)).documents
    assert slugs_of_files(found, tmp_path, None, {}) == "github"
    assert slugs_of_files(found, tmp_path, "jekyll", {}) == "kramdown"
    (tmp_path / "mkdocs.yml").write_text("")
    assert slugs_of_files(found, tmp_path, None, {}) == "mkdocs"


def test_a_folder_is_cut_with_the_rule_of_its_links(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "links.md").write_text("[x](page.md#q-a-b) [x](page.md#e_f)\n")
    by_path = {chunks.document.path: chunks for chunks in quire.chunk_dir(tmp_path, "tree", slugs="auto")}
    assert [chunk.section_slug for chunk in by_path["page.md"]] == ["q-a-b", "e_f"]
    assert by_path["page.md"].options.slugs == "mkdocs"


def test_a_text_is_cut_with_the_rule_of_its_own_links() -> None:
    chunks = quire.chunk(f"{PAGE}\n[x](#q-a-b) [y](#e-f)\n", "tree", slugs="auto")
    assert [chunk.section_slug for chunk in chunks] == ["q-a-b", "e-f"]


@pytest.mark.parametrize(("options", "slug"), [({}, "q-a-b"), ({"slugs": "github"}, "q-a--b")])
def test_a_dialect_sets_the_default_rule(options: dict[str, str], slug: str) -> None:
    assert quire.chunk(PAGE, "tree", dialect="mkdocs", **options)[0].section_slug == slug


GENERATED = (
    "## Title {#id}\n\n!!! note\n    text\n\n{{< tab >}}\n# comment\n{{< /tab >}}\n\n(label)=\n# Other\n\ntext\n"
)


def test_commonmark_has_no_constructs_of_generators() -> None:
    plain = quire.parse(GENERATED, dialect="commonmark")
    assert [(each.title, each.anchor) for each in plain.sections[1:]] == [
        ("Title {#id}", "title-id"),
        ("comment", "comment"),
        ("Other", "other"),
    ]
    assert {block.kind for block in plain.blocks} == {"heading", "paragraph"}
    assert [each.anchor for each in quire.parse(GENERATED).sections[1:]] == ["id", "label"]
    assert [each.anchor for each in quire.parse(GENERATED, dialect="hugo").sections[1:]] == ["id", "label"]
    for strategy in ("packed", "flow", "sections", "tree"):
        chunks = quire.chunk(GENERATED, strategy, dialect="commonmark")
        assert quire.verify(GENERATED, chunks) == []
        assert quire.verify(GENERATED, list(chunks)) == []


def test_an_unknown_dialect() -> None:
    with pytest.raises(quire.OptionError, match=r"dialect='x' is invalid.*'commonmark'"):
        quire.parse("", dialect="x")
    with pytest.raises(quire.OptionError, match=r"dialect='x' is invalid.*'commonmark'"):
        quire.chunk("", dialect="x")
