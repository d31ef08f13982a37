"""Nodes as the index keeps them: the same as the tree strategy's, and together the whole source."""

from __future__ import annotations

import pytest
from hypothesis import given

import quire
from quire.index.file_records import storable
from quire.index.node import Node, build_nodes, decode_node, encode_node
from quire.model.breadcrumbs import joined, reader_line
from quire.model.offsets import lines_at
from quire.output import record_forms
from quire.tokens import tokenizers
from support import grammar, shared

COUNTER = tokenizers.resolve("o200k_base", "o200k_base")


def nodes(text: str, path: str = "guides/a.md", tree: str = "docs") -> tuple[Node, ...]:
    document = quire.parse(text, path=path)
    return build_nodes(document, tree, COUNTER)


def assert_true_to_source(text: str) -> None:
    document = quire.parse(text, path="guides/a.md")
    made = build_nodes(document, "docs", COUNTER)
    data = text.encode()
    assert "".join(node.text for node in made) == text
    children: dict[int, list[Node]] = {}
    for node in made:
        if node.ancestors:
            children.setdefault(node.ancestors[-1], []).append(node)
    lines = lines_at(text, [node.start for node in made])
    for position, node in enumerate(made):
        whole = "".join(each.text for each in made[position : node.last + 1])
        assert node.position == position
        assert node.text == text[node.start : node.end]
        assert whole == text[node.start : node.full_end] == data[node.byte_start : node.byte_full_end].decode()
        assert node.tokens == COUNTER.count(node.text)
        assert node.full_tokens == COUNTER.count(whole)
        assert node.line == lines[position]
        for last, own in ((node.last_line, node.text), (node.full_last_line, whole)):
            end = max(len(own.rstrip(" \t\r\n")) - 1, 0)
            assert last == node.line - 1 + lines_at(own, [end])[0]
        assert node.body_end is not None
        assert 0 <= node.body <= len(node.text)
        assert node.body_end <= len(node.text)
        for part, following in zip(node.passages, node.passages[1:], strict=False):
            assert part.end == following.start
            assert node.text[: part.end].endswith(("\n", "\r"))
        assert "".join(node.text[part.start : part.end] for part in node.passages) in ("", node.text)
        assert all(part.tokens == COUNTER.count(node.text[part.start : part.end]) for part in node.passages)
        below = children.get(position, [])
        assert all(each.ancestors == (*node.ancestors, position) for each in below)
        assert all(position < each.position <= node.last for each in below)
        assert decode_node(encode_node(node)) == node


def assert_like_the_tree_strategy(text: str) -> None:
    chunks = quire.chunk(text, "tree", path="guides/a.md", tree="docs")
    records = list(record_forms.nodes(chunks, every=True))
    made = nodes(text)
    assert [node.id for node in made] == [record["id"] for record in records]
    for node, record in zip(made, records, strict=True):
        assert node.document_id == record["doc_id"]
        parent = made[node.ancestors[-1]].id if node.ancestors else None
        assert parent == record["parent_id"]
        assert (node.depth, node.position, node.slug) == (record["depth"], record["position"], record["slug"])
        assert joined(node.breadcrumb) == storable(record["breadcrumb"])
        if node.position:
            assert node.body_text == record["body"]
        else:
            assert record["body"].endswith(node.body_text)


@given(grammar.documents())
def test_random_documents(text: str) -> None:
    assert_true_to_source(text)
    assert_like_the_tree_strategy(text)


@given(grammar.small_texts())
def test_random_texts(text: str) -> None:
    text = text.encode(errors="replace").decode()
    assert_true_to_source(text)
    assert_like_the_tree_strategy(text)


@shared.needs_shared
def test_every_shared_document() -> None:
    for _, data in shared.documents():
        assert_true_to_source(data.decode())
        assert_like_the_tree_strategy(data.decode())


def test_front_matter_is_no_body_and_gives_tags() -> None:
    top, a = nodes("---\ntags: [x, 'a b', 3]\nkeywords: k1, k2 , x\n---\nPreamble.\n\n# A\n\ntext\n")
    assert top.body_text == "Preamble.\n\n"
    assert top.text.startswith("---\ntags")
    assert top.tags == a.tags == ("x", "a b", "3", "k1", "k2")


@pytest.mark.parametrize("value", ["{a: 1}", "true", "null", "[[a], {b: c}, true]"])
def test_front_matter_that_is_no_list_of_tags(value: str) -> None:
    assert nodes(f"---\ntags: {value}\n---\nx\n")[0].tags == ()


def test_a_heading_without_text_is_found_on_its_parent() -> None:
    text = "# A\n\none\n\n## B\n\ntwo\n\n## Empty *one*\n\n### Deeper\n\n# C\n\nthree\n\n# Last\n"
    made = {node.title: node for node in nodes(text) if node.depth}
    assert sorted(made) == ["A", "B", "C"]
    assert made["A"].titles == ("Empty one", "Deeper")
    assert made["B"].titles == ()
    assert made["B"].text == "## B\n\ntwo\n\n## Empty *one*\n\n### Deeper\n\n"
    assert made["B"].body_text == "\ntwo\n\n"
    assert nodes(text)[0].titles == ("Last",)


def test_a_document_of_headings_only_is_one_node() -> None:
    (top,) = nodes("# A\n\n## B\n")
    assert (top.body_text, top.titles) == ("# A\n\n## B\n", ("A", "B"))


def test_a_long_node_has_parts_at_blocks_and_in_long_blocks_at_lines() -> None:
    prose = "".join(f"Paragraph {number} says a word or two about one thing.\n\n" for number in range(40))
    code = "```\n" + "".join(f"line({number})\n" for number in range(200)) + "```\n"
    for text in (f"# A\n\n{prose}", f"# A\n\n{code}"):
        (_, a) = nodes(text)
        assert len(a.passages) > 3
        assert max(part.tokens for part in a.passages) < 300
        assert a.text[: a.passages[0].end].startswith("# A\n\n")
        assert a.passages[0].tokens > 10
    assert nodes("# A\n\nshort\n")[1].passages == ()


def test_a_heading_stays_with_what_follows_it() -> None:
    long = "word " * 300
    (_, a) = nodes(f"# A\n\n{long}\n\n## Empty\n\n# B\n\nx\n")[:2]
    starts = [a.text[part.start :] for part in a.passages]
    assert not any(start.startswith("\n") for start in starts)
    assert a.passages[0].tokens > 200


def test_a_short_fence_is_not_torn_below_a_paragraph() -> None:
    code = "```\n" + "".join(f"value_{number:02} = {number}\n" for number in range(50)) + "```\n"
    (_, a) = nodes(f"# A\n\n{'A short paragraph. ' * 8}\n\n{code}\n{'Another one. ' * 60}\n")
    assert [a.text[part.start :].startswith(("# A", "```", "Another")) for part in a.passages] == [True] * len(
        a.passages
    )


def test_a_heading_above_blank_lines_ends_no_part() -> None:
    (_, a) = nodes(f"# A\n\n{'Words and words. ' * 30}\n\n## Empty\n\n\n# B\n\nx\n")[:2]
    assert not any(a.text[: part.end].rstrip().endswith("## Empty") for part in a.passages[:-1])


def test_a_part_begins_in_no_fence_and_not_at_a_line_that_is_indented() -> None:
    step = "- Do one thing, and then another thing, until all of them are done.\n\n  ```console\n  $ do it\n  ```\n\n"
    code = "```toml\n[a]\nkey = 1\n\n[b]\nkey = 2\n\n# no heading\nkey = 3\n```\n\n"
    (_, a) = nodes(f"# A\n\n{step * 12}{code * 12}{step * 12}")
    starts = [a.text[part.start :] for part in a.passages]
    assert len(starts) > 8
    assert all(start.startswith(("# A", "- Do", "```toml")) for start in starts)


def test_tokens_are_exact_where_those_of_nodes_do_not_add_up() -> None:
    names = ("etc", "usr", "var", "data", "home")
    assert_true_to_source("# Files\n\nlist:\n\n" + "".join(f"/{name}\n-----\n\ntext:\n\n" for name in names))
    assert_true_to_source("\ufeff# A\n\ntext\n\n## B\n\ntext")


def test_what_utf_8_cannot_hold_is_written_as_bytes() -> None:
    (top,) = nodes("x\n", path="caf\udce9 \ud800.md")
    assert top.path == "caf%E9 %ED%A0%80.md"
    assert top.title == "caf%E9 %ED%A0%80"
    assert decode_node(encode_node(top)) == top


def test_alone() -> None:
    (_, a, _) = nodes("# A\n\né\n\n## B\n\ntwo\n")
    alone = a.without_children()
    assert (alone.last, alone.full_end, alone.full_tokens, alone.full_last_line) == (1, a.end, a.tokens, 3)
    assert alone.byte_full_end == len("# A\n\né\n\n".encode())


def test_reader_line_and_breadcrumb_agree_where_a_heading_repeats_the_title() -> None:
    made = nodes("# A\n\nx\n\n## A\n\ny\n")
    assert [node.breadcrumb for node in made] == [("A",), ("A",), ("A", "A")]
    assert joined(made[2].breadcrumb) == reader_line("A", ["A", "A"]) == "> A › A"


def test_only_the_first_heading_is_left_out_of_the_breadcrumb_where_it_repeats_the_title() -> None:
    text = "---\ntitle: Guide\n---\n# Intro\n\nx\n\n# Guide\n\ny\n\n## Z\n\nz\n"
    assert [joined(node.breadcrumb) for node in nodes(text)] == [
        "> Guide", "> Guide › Intro", "> Guide › Guide", "> Guide › Guide › Z",
    ]  # fmt: skip
    assert_like_the_tree_strategy(text)


def test_a_first_heading_that_repeats_the_title_is_left_out_whatever_its_level() -> None:
    text = "---\ntitle: Guide\n---\n## Guide\n\ny\n\n### Z\n\nz\n\n# Guide\n\nw\n"
    assert [joined(node.breadcrumb) for node in nodes(text)] == ["> Guide", "> Guide", "> Guide › Z", "> Guide › Guide"]
    assert_like_the_tree_strategy(text)
