"""``quire chunk``, ``verify`` and ``stats`` with a quire.toml: its trees, and the options under ``[chunk]``."""

from __future__ import annotations

import json

import pytest
from outputs import refused

TREES = '[trees]\nreadme = "README.md"\n[trees.docs]\npath = "docs"\nexclude = ["drafts/"]\n'
FLOW = '[chunk]\nstrategy = "flow"\ntokenizer = "gpt-4"\nmax_tokens = 99\ncontent_type = "kb"\n'


@pytest.fixture(autouse=True)
def project(docs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("README.md", "docs/a.md", "docs/drafts/b.md", "other/c.md")
    return docs({name: f"# {name}\n\nSome text to cut.\n" for name in names})


@pytest.fixture
def cut(run, chunks):
    """The ids of chunks, and the options they were made with."""

    def read(*arguments):
        result = run("chunk", *arguments)
        assert result.code == 0, result.err
        found = chunks(result)
        return [each["id"].partition(":")[2] for each in found], found[0]["metadata"]["chunkingOptions"]

    return read


def test_without_a_path_the_trees_are_read(run, docs, cut) -> None:
    docs({"quire.toml": TREES})
    assert cut("-s", "tree")[0] == ["README.md#readmemd", "a.md#docsamd"]
    result = run("verify", "--json")
    assert (result.code, json.loads(result.out)) == (0, [])
    assert json.loads(run("stats", "--json").out)["documents"] == 2
    assert cut("-s", "tree", "other")[0] == ["c.md#othercmd"]


def test_a_file_in_two_trees_is_cut_once(docs, cut) -> None:
    docs({"quire.toml": '[trees]\nall = "docs"\ndrafts = "docs/drafts"\n'})
    assert len(cut("-s", "tree")[0]) == 2


def test_a_tree_that_is_gone(run, docs) -> None:
    docs({"quire.toml": f'{TREES}[trees.gone]\npath = "gone"\n'})
    result = run("chunk")
    assert result.code == 0
    assert "tree gone: gone does not exist; correct trees.gone in quire.toml" in result.err


def test_trees_that_are_always_searched_are_not_cut(docs, cut, user_folders) -> None:
    own = user_folders / "config" / "quire"
    (own / "notes").mkdir(parents=True)
    (own / "notes" / "n.md").write_text("# N\n\nneedle\n")
    (own / "quire.toml").write_text('[trees]\nnotes = { path = "notes", always = true }\n')
    docs({"quire.toml": TREES})
    assert len(cut("-s", "tree")[0]) == 2


@pytest.mark.parametrize("command", ["chunk", "verify", "stats"])
def test_without_a_path_and_without_trees(run, command) -> None:
    assert "missing argument 'PATH...'; name files or folders, or set [trees]" in refused(run(command))


def test_options_of_the_file(run, docs, cut) -> None:
    docs({"quire.toml": FLOW})
    options = cut("docs/a.md")[1]
    assert (options["strategy"], options["tokenizer"]) == ("flow", "cl100k_base")
    assert cut("docs/a.md", "--max-tokens", "77")[1] == {
        **options,
        "max_tokens": 77,
        "target_tokens": 77,
        "min_tokens": 38,
    }
    other = cut("docs/a.md", "-s", "packed")[1]
    assert (other["strategy"], other["tokenizer"], other["max_tokens"]) == ("packed", "cl100k_base", 99)
    assert json.loads(run("stats", "--json", "docs").out)["strategies"]["sections"]["tokenizer"] == "cl100k_base"
    values = json.loads(run("config", "--json").out)
    assert values["chunk.strategy"]["value"] == "flow"


OWN = f"""{TREES}[trees.docs.chunk]
strategy = "flow"
max_tokens = 77
[chunk]
hard_cap = 99
content_type = "kb"
"""


def test_each_tree_is_cut_by_its_own_options(run, docs, chunks) -> None:
    docs({"quire.toml": OWN})
    found = [each["metadata"]["chunkingOptions"] for each in chunks(run("chunk"))]
    assert [each["strategy"] for each in found] == ["packed", "flow"]
    assert [each["max_tokens"] for each in found] == [99, 77]
    assert json.loads(run("verify", "--json").out) == []
    found = [each["metadata"]["chunkingOptions"] for each in chunks(run("chunk", "-s", "packed"))]
    assert [each["max_tokens"] for each in found] == [99, 77]
    found = [each["metadata"]["chunkingOptions"] for each in chunks(run("chunk", "docs/a.md"))]
    assert (found[0]["strategy"], found[0]["max_tokens"]) == ("packed", 99)
    values = json.loads(run("config", "--json").out)
    assert values["trees.docs.chunk.max_tokens"]["value"] == 77


def test_a_tree_with_the_strategy_tree_beside_others(run, docs, chunks, tmp_path) -> None:
    docs({"quire.toml": f'{TREES}chunk.strategy = "tree"\n'})
    ids = [each["id"] for each in chunks(run("chunk"))]
    assert ids == ["doc:README::ch0", "doc:a.md#docsamd"]
    assert "add -s tree" in refused(run("chunk", "--format", "nodes"))
    assert run("chunk", "-o", str(tmp_path / "out")).code == 0


def test_stats_counts_by_the_tokenizer_of_all_trees(run, docs) -> None:
    docs({"quire.toml": '[trees]\ndocs = "docs"\n[chunk]\ntokenizer = "gpt-4"\n'})
    assert json.loads(run("stats", "--json").out)["strategies"]["packed"]["tokenizer"] == "cl100k_base"


@pytest.mark.parametrize("command", ["chunk", "verify", "stats"])
def test_a_bad_value_names_file_and_key(run, docs, project, command) -> None:
    docs({"quire.toml": '[chunk]\nhard_cap = "x"\n'})
    assert f"{project}/quire.toml: chunk.hard_cap='x' is invalid" in refused(run(command, "docs"))


def test_slugs_and_dialect_of_a_tree(run, docs, monkeypatch, chunks) -> None:
    links = "# Q: A & B? {#own}\n\n## Q: A & B?\n\n[x](#q-a-b) [x](b.md#e_f)\n"
    monkeypatch.chdir(docs({"docs/a.md": links, "docs/b.md": "# \u00c9_f\n\nx\n", "plain/a.md": links}))
    docs(
        {
            "quire.toml": '[trees.docs]\npath = "docs"\n[trees.docs.chunk]\nslugs = "auto"\n'
            '[trees.plain]\npath = "plain"\n[trees.plain.chunk]\ndialect = "commonmark"\n[chunk]\nstrategy = "tree"\n'
        }
    )

    def slugs(*arguments: str) -> dict[str, str]:
        made = chunks(run("chunk", "-q", *arguments))
        return {chunk["id"]: chunk["sectionSlug"] for chunk in made}

    assert slugs().items() >= {
        ("doc:docs/a.md#q-a-b", "q-a-b"),
        ("doc:docs/b.md#_f", "e_f"),
        ("doc:plain/a.md#q-a-b", "q-a--b"),
    }
    assert slugs("docs", "--slugs", "auto")["doc:b.md#_f"] == "e_f"
    assert slugs("docs", "--dialect", "vitepress")["doc:b.md#_f"] == "e-f"
    assert slugs("docs", "--dialect", "commonmark", "-s", "sections").keys() >= {"doc:a::ch0"}
