"""What is set, and where each value comes from; what cannot be is refused with the file and the key."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quire.errors import InputError, OptionError, QuireError
from quire.settings import SEARCH_KEYS, Settings, Tree, load, shown, tree_name, variable

Make = Callable[..., Settings]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def make(tmp_path: Path, home: Path) -> Make:
    """Settings for a folder, from files given by name and an environment that has nothing else."""

    def from_files(files: dict[str, str], folder: str = "project", **environment: str) -> Settings:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        user = "APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME"
        return load(tmp_path / folder, {user: str(home), **environment})

    return from_files


def test_defaults(make: Make, tmp_path: Path) -> None:
    settings = make({})
    assert settings.folder == tmp_path / "project"
    assert settings.index == tmp_path / "project" / ".quire"
    assert (settings.trees, settings.limit, settings.max_tokens) == ({}, 10, 8_000)
    assert {origin for _, origin in settings.values.values()} == {"default"}
    assert set(settings.values) == {"index", *SEARCH_KEYS}


# Which file


def test_the_nearest_file_upwards_and_paths_from_its_folder(make: Make, tmp_path: Path) -> None:
    files = {
        "quire.toml": "search.limit = 1\n[trees]\nfar = 'x'\n",
        "project/quire.toml": 'index = "ix"\n[trees]\ndocs = "docs"\nother = "x/../other/./y"\n',
    }
    settings = make(files, "project/docs/deep")
    assert settings.folder == tmp_path / "project"
    project = tmp_path / "project"
    assert settings.index == project / "ix"
    assert settings.folders == {"docs": project / "docs", "other": project / "other" / "y"}
    assert settings.limit == 10  # files above the nearest do not count
    assert settings.values["index"].origin == tmp_path / "project" / "quire.toml"
    assert settings.values["trees.docs.path"].origin == tmp_path / "project" / "quire.toml"


def test_pyproject_counts_if_it_is_about_quire(make: Make, tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[tool.quire.trees]\ndocs = "docs"\n',
        "project/pyproject.toml": '[project]\ndependencies = ["quire"]\n[tool.other]\nx = 1\n',
    }
    settings = make(files)
    assert settings.folder == tmp_path
    assert settings.folders == {"docs": tmp_path / "docs"}


def test_quire_toml_before_pyproject(make: Make) -> None:
    files = {"project/pyproject.toml": "[tool.quire.search]\nlimit = 3\n", "project/quire.toml": "search.limit = 4\n"}
    assert make(files).limit == 4


def test_a_broken_pyproject_of_others_is_theirs(make: Make) -> None:
    assert make({"project/pyproject.toml": "# we use quire\n[tool\n"}).limit == 10
    with pytest.raises(InputError, match=r"pyproject\.toml: line 3, column 1: not TOML"):
        make({"project/pyproject.toml": "[tool.quire]\n\n=\n"})


def test_the_users_file_stands_back(make: Make, home: Path) -> None:
    files = {
        "home/quire/quire.toml": "[search]\nlimit = 3\nmax_tokens = 500\n",
        "project/quire.toml": "[search]\nlimit = 4\n",
    }
    settings = make(files, QUIRE_SEARCH_BOOSTS_TITLE="7")
    assert (settings.limit, settings.max_tokens, settings.search.boosts["title"]) == (4, 500, 7.0)
    assert settings.values["search.max_tokens"].origin == home / "quire" / "quire.toml"
    assert settings.values["search.boosts.title"].origin == "QUIRE_SEARCH_BOOSTS_TITLE"


def test_trees_and_index_come_from_one_file(make: Make, home: Path, tmp_path: Path) -> None:
    users = {"home/quire/quire.toml": 'index = "ix"\n[trees]\nnotes = "notes"\n'}
    (tmp_path / "project" / ".quire").mkdir(parents=True)  # an index that is there is no project
    settings = make(users)
    assert (settings.index, settings.folders) == (home / "quire" / "ix", {"notes": home / "quire" / "notes"})
    assert settings.folder == tmp_path / "project"
    settings = make({**users, "project/quire.toml": "[search]\nlimit = 3\n"})
    assert (settings.index, settings.trees) == (tmp_path / "project" / ".quire", {})


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ('index = "ix"\n', "home/quire/ix"),
        ('[trees]\nnotes = "notes"\n', "home/quire/.quire"),
        ("[search]\nlimit = 3\n", "project/.quire"),  # it says nothing of places
    ],
)
def test_the_users_file_where_there_is_no_project(make: Make, tmp_path: Path, text: str, index: str) -> None:
    settings = make({"home/quire/quire.toml": text})
    assert (settings.index, settings.folder) == (tmp_path / index, tmp_path / "project")


def test_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert load(tmp_path, {}).limit == 10
    assert load(tmp_path, {"XDG_CONFIG_HOME": "relative/does/not/count"}).limit == 10


@pytest.mark.skipif(sys.platform == "win32", reason="HOME is POSIX's")
def test_home_in_paths(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    settings = make({"home/quire/quire.toml": '[trees]\nnotes = "~/notes"\n'}, QUIRE_INDEX="~/ix")
    assert settings.folders == {"notes": tmp_path / "me" / "notes"}
    assert settings.index == tmp_path / "me" / "ix"


# What a file may say


def test_trees_by_path_and_by_table(make: Make, tmp_path: Path) -> None:
    text = '[trees]\na = "x"\nb = {path = "y", include = "*.md"}\n'
    text += '[trees.c]\npath = "z"\nlanguage = "german"\nexclude = ["q/"]\n'
    project = tmp_path / "project"
    assert make({"project/quire.toml": text}).trees == {
        "a": Tree(name="a", path=project / "x"),
        "b": Tree(name="b", path=project / "y", include=("*.md",)),
        "c": Tree(name="c", path=project / "z", language="german", exclude=("q/",)),
    }


def test_all_of_search(make: Make) -> None:
    text = """\
[search]
limit = 3
max_tokens = 4000
aggregation_threshold = 0.25
min_aggregation_matches = 3
score_cap_multiplier = 3
parent_rule = "any"
per_document = 0
boosts.title = 5
"""
    settings = make({"project/quire.toml": text})
    assert (settings.limit, settings.max_tokens) == (3, 4000)
    own = settings.search
    assert (own.aggregation_threshold, own.min_aggregation_matches, own.score_cap_multiplier) == (0.25, 3, 3.0)
    assert (own.parent_rule, own.per_document, own.boosts["title"]) == ("any", 0, 5.0)
    assert own.boosts["body"] == SEARCH_KEYS["search.boosts.body"].default


def test_a_byte_order_mark_is_skipped(make: Make) -> None:
    assert make({"project/quire.toml": "\ufeff[search]\nlimit = 3\n"}).limit == 3


def test_every_search_setting_has_a_variable(make: Make) -> None:
    values = {name: key.words[-1] if key.words else int(key.least) + 1 for name, key in SEARCH_KEYS.items()}
    settings = make({}, **{variable(name): str(value) for name, value in values.items()})
    for name, value in values.items():
        assert settings.values[name] == (value, variable(name))


def test_an_empty_variable_is_none(make: Make, tmp_path: Path) -> None:
    settings = make({}, QUIRE_SEARCH_LIMIT="", QUIRE_INDEX="")
    assert (settings.limit, settings.index) == (10, tmp_path / "project" / ".quire")


REFUSED = [
    (
        "[serch]\nlimit = 3\n",
        ["unknown key serch", "did you mean search?", "index, chunk, context, embed, search, trees"],
    ),
    ("limit = 3\n", ["unknown key limit", "index, chunk, context, embed, search, trees"]),
    ("[search]\nlimt = 3\n", ["unknown key search.limt", "did you mean limit?", "[search]", "max_tokens"]),
    ("[search.boosts]\ntitel = 3\n", ["unknown key search.boosts.titel", "did you mean title?", "[search.boosts]"]),
    ("search = 3\n", ["search = 3", "[search]"]),
    ("[search]\nboosts = [1]\n", ["search.boosts = [1]", "[search.boosts]"]),
    ("[search]\nlimit = 'ten'\n", ['search.limit = "ten"', "a whole number from 1 to"]),
    ("[search]\nlimit = 1.5\n", ["search.limit = 1.5", "a whole number"]),
    ("[search]\nlimit = true\n", ["search.limit = true", "a whole number"]),
    ("[search]\nlimit = 0\n", ["search.limit = 0", "from 1"]),
    ("[search]\nmax_tokens = -1\n", ["search.max_tokens = -1", "at least 0"]),
    ("[search]\naggregation_threshold = 1.5\n", ["search.aggregation_threshold = 1.5", "a number from 0 to 1"]),
    ("[search]\naggregation_threshold = nan\n", ["search.aggregation_threshold = nan", "a number from 0 to 1"]),
    ("[search]\nparent_rule = 'all'\n", ['search.parent_rule = "all"', '"best" or "any"']),
    ("index = 3\n", ["index = 3", "a path"]),
    ("index = ''\n", ['index = ""', "a path"]),
    ("trees = ['docs']\n", ['trees = ["docs"]', "[trees]"]),
    ("[trees]\ndocs = 3\n", ["trees.docs = 3", "a path", "[trees.docs]"]),
    ("[trees]\n'a b' = 'x'\n", ["trees.a b", "letters, digits"]),
    ("[trees]\n'a:b' = 'x'\n", ["trees.a:b", "letters, digits"]),
    ("[trees]\na = 'x'\nb = './x'\n", ["trees.b", "trees.a", "same folder"]),
    ("[trees.docs]\nlanguage = 'german'\n", ["trees.docs has no path"]),
    ("[trees.docs]\npath = 'x'\nlanguage = 'germn'\n", ["trees.docs.language", "did you mean german?", "none"]),
    ("[trees.docs]\npath = 'x'\nlanguage = 3\n", ["trees.docs.language = 3", "none"]),
    ("[trees.docs]\npath = 'x'\nexclud = ['y']\n", ["unknown key trees.docs.exclud (did you mean exclude?)"]),
    ("[trees.docs]\npath = 'x'\nexclude = 3\n", ["trees.docs.exclude = 3", "a list of patterns"]),
    ("[trees.docs]\npath = 'x'\ninclude = ['a', 3]\n", ["trees.docs.include = ['a', 3]", "a list of patterns"]),
    ('[trees]\ndocs = "a\\u0000b"\n', ["trees.docs", "a path"]),
    ("chunk = 3\n", ["chunk = 3", "[chunk]"]),
    ("[chunk]\ntargt = 3\n", ["unknown key chunk.targt (did you mean target?)"]),
    ("[chunk]\nstrategy = 'flw'\n", ["chunk.strategy: unknown strategy 'flw'", "choose from: packed"]),
    ("[chunk]\nstrategy = ['flow']\n", ['chunk.strategy = ["flow"]', "the name of a strategy"]),
    ("[chunk]\nhard_cap = 'x'\n", ["chunk.hard_cap='x'", "a whole number"]),
    ("[chunk]\nhard_cap = [1]\n", ["chunk.hard_cap=[1]", "a whole number"]),
    ("[chunk]\nstrategy = 'flow'\nhard_cap = 99\n", ["option chunk.hard_cap", "calls it chunk.max_tokens"]),
    ("[chunk]\ntarget = 99\nhard_cap = 64\n", ["chunk.target=99", "at most chunk.hard_cap=64"]),
    ("[chunk]\ntokenizer = '../tokenizer.json'\n", ["chunk.tokenizer", "o200k_base", "--tokenizer takes a file"]),
    ("[trees.a]\npath = 'x'\nchunk = 3\n", ["trees.a.chunk = 3", "[trees.a.chunk]"]),
    ("[trees.a]\npath = 'x'\nchunk.targt = 3\n", ["unknown key trees.a.chunk.targt (did you mean target?)"]),
    ("[trees.a]\npath = 'x'\nchunk.strategy = 'flw'\n", ["trees.a.chunk.strategy: unknown strategy 'flw'"]),
    ("[trees.a]\npath = 'x'\nchunk.hard_cap = 'x'\n", ["trees.a.chunk.hard_cap='x'", "a whole number"]),
    ("[trees.a]\npath = 'x'\nchunk.tokenizer = 'x.json'\n", ["trees.a.chunk.tokenizer", "--tokenizer takes a file"]),
    (
        "[chunk]\nstrategy = 'flow'\n[trees.a]\npath = 'x'\nchunk.hard_cap = 99\n",
        ["option trees.a.chunk.hard_cap", "calls it trees.a.chunk.max_tokens"],
    ),
    (
        "[chunk]\nhard_cap = 64\ntarget = 40\n[trees.a]\npath = 'x'\nchunk.target = 99\n",
        ["trees.a.chunk.target=99", "at most chunk.hard_cap=64"],
    ),
    ("[search\n", ["line 1, column 8", "not TOML"]),
    ("[search]\nlimit = 1\nlimit = 2\n", ["line 3", "not TOML"]),
]


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=[repr(text) for text, _ in REFUSED])
def test_refused(make: Make, tmp_path: Path, text: str, said: list[str]) -> None:
    with pytest.raises(QuireError) as caught:
        make({"project/quire.toml": text})
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'project' / 'quire.toml'}: ")
    assert "\n" not in message
    assert [part for part in said if part not in message] == []


def test_a_tree_has_its_own_chunk_options_over_those_of_all(make: Make) -> None:
    text = """
        [chunk]
        hard_cap = 400
        tokenizer = "estimate"
        [trees]
        readme = "README.md"
        [trees.docs]
        path = "docs"
        chunk = { hard_cap = 300, target = 100 }
        [trees.api]
        path = "api"
        [trees.api.chunk]
        strategy = "flow"
        max_tokens = 200
    """
    settings = make({"project/quire.toml": text})
    common = {"tokenizer": "estimate"}
    assert settings.chunk_options() == {"strategy": "packed", "hard_cap": 400, **common}
    assert settings.chunk_options("readme") == settings.chunk_options()
    assert settings.chunk_options("docs") == {"strategy": "packed", "hard_cap": 300, "target": 100, **common}
    assert settings.chunk_options("api") == {"strategy": "flow", "max_tokens": 200, **common}
    assert settings.chunk_options("api", "packed") == {"strategy": "packed", "hard_cap": 400, **common}
    assert settings.values["trees.docs.chunk.hard_cap"].value == 300
    assert "trees.readme.chunk.hard_cap" not in settings.values


def test_the_own_chunk_options_of_a_tree_do_not_need_a_table_for_all(make: Make) -> None:
    user = {"home/quire/quire.toml": "[chunk]\nstrategy = 'sections'\nmax_depth = 2\n"}
    settings = make({**user, "project/quire.toml": "[trees.a]\npath = 'a'\nchunk.strategy = 'flow'\n"})
    assert settings.chunk_options("a") == {"strategy": "flow"}
    assert settings.chunk == {"strategy": "sections", "max_depth": 2}


def test_keys_in_pyproject_have_their_full_name(make: Make) -> None:
    with pytest.raises(OptionError, match=r"unknown key tool\.quire\.search\.limt .*\[tool\.quire\.search\]"):
        make({"project/pyproject.toml": "[tool.quire.search]\nlimt = 3\n"})
    with pytest.raises(OptionError, match=r"tool\.quire\.search\.limit = 0 is not possible"):
        make({"project/pyproject.toml": "[tool.quire.search]\nlimit = 0\n"})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("QUIRE_SEARCH_LIMIT", "ten", "a whole number"),
        ("QUIRE_SEARCH_LIMIT", "0", "from 1"),
        ("QUIRE_SEARCH_BOOSTS_TITLE", "much", "a number"),
        ("QUIRE_SEARCH_LIMT", "3", "did you mean QUIRE_SEARCH_LIMIT?"),
    ],
)
def test_variables_that_are_refused(make: Make, name: str, value: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        make({}, **{name: value})
    assert name in str(caught.value)
    assert said in str(caught.value)


def test_bytes_that_are_not_utf_8(make: Make, tmp_path: Path) -> None:
    make({})
    (tmp_path / "project" / "quire.toml").write_bytes(b"# \xff\n")
    with pytest.raises(InputError, match="byte offset 2: not UTF-8"):
        make({})


def test_a_folder_where_the_file_should_be(make: Make, tmp_path: Path) -> None:
    (tmp_path / "project" / "quire.toml").mkdir(parents=True)
    with pytest.raises(InputError, match=r"quire\.toml: "):
        make({})


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(make: Make, tmp_path: Path) -> None:
    make({"project/quire.toml": ""})
    (tmp_path / "project" / "quire.toml").chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        make({})


@pytest.mark.parametrize(
    ("text", "taken", "name"),
    [
        ("docs", [], "docs"),
        ("docs", ["docs", "docs-2"], "docs-3"),
        ("my docs!", [], "my-docs"),
        ("Ä.b_c", [], "Ä.b_c"),
        ("", [], "tree"),
        (":", ["tree"], "tree-2"),
    ],
)
def test_names_of_trees(text: str, taken: list[str], name: str) -> None:
    assert tree_name(text, taken) == name


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"
UPDATE = "QUIRE_UPDATE_DOCS" in os.environ


@pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")
def test_the_page_has_every_search_setting_as_it_is() -> None:
    """``QUIRE_UPDATE_DOCS=1`` writes that part of the page anew."""
    head = "| key | environment | default | is |\n|---|---|---|---|\n"
    rows = (
        f"| `{name}` | `{variable(name)}` | `{shown(key.default)}` | {key.meaning} |\n"
        for name, key in SEARCH_KEYS.items()
    )
    before, begin, rest = PAGE.read_text("utf-8").partition("<!-- generated: search -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    made = f"{before}{begin}{head}{''.join(rows)}{end}{after}"
    if UPDATE:
        PAGE.write_text(made, "utf-8", newline="\n")
    assert PAGE.read_text("utf-8") == made, "out of date: QUIRE_UPDATE_DOCS=1 pytest tests/unit/test_settings.py"


@pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")
def test_the_example_on_the_page_can_be_read(make: Make) -> None:
    example = PAGE.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    settings = make({"project/quire.toml": example})
    assert list(settings.trees) == ["docs", "readme", "handbuch"]
    assert (settings.limit, settings.max_tokens, settings.search.boosts["title"]) == (5, 4000, 3.0)


# Embedding


def test_the_users_own_file_may_choose_a_model(make: Make, home: Path) -> None:
    settings = make(
        {"home/quire/quire.toml": '[embed]\nendpoint = "https://example.com/v1"\nmodel = "m"\nwindow = 512\n'}
    )
    assert settings.embed == {"endpoint": "https://example.com/v1", "model": "m", "window": 512}
    assert settings.values["embed.model"].origin == home / "quire" / "quire.toml"


@pytest.mark.parametrize("key", ['endpoint = "https://evil.example"', 'embedder = "minilm"'])
@pytest.mark.parametrize(("file", "table"), [("quire.toml", "embed"), ("pyproject.toml", "tool.quire.embed")])
def test_a_project_may_not(make: Make, key: str, file: str, table: str) -> None:
    with pytest.raises(
        OptionError, match=rf"\[{table}\] is not allowed in a project; .* only the command line or your own"
    ):
        make({f"project/{file}": f"[{table}]\n{key}\n"})


@pytest.mark.parametrize("wrong", ["endpoint = 3", "window = 'x'", "window = true", "key = 'secret'"])
def test_impossible_models(make: Make, wrong: str) -> None:
    with pytest.raises(OptionError, match="embed"):
        make({"home/quire/quire.toml": f"[embed]\n{wrong}\n"})
