"""Settings and where each comes from; an invalid one is refused with the file and the key."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from quire.cli.config import json_schema, toml_value
from quire.embed.embed_settings import EmbedSettings
from quire.errors import InputError, OptionError, QuireError
from quire.model.trees import Tree, tree_name
from quire.model.validation import fields
from quire.workspace.settings import ContextRule, Settings, load, search_fields

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


def folders(settings: Settings) -> dict[str, Path]:
    return {name: tree.folder for name, tree in settings.trees.items()}


def test_defaults(make: Make, tmp_path: Path) -> None:
    settings = make({})
    assert (settings.folder, settings.file, settings.index) == (tmp_path / "project", None, None)
    assert (settings.trees, settings.search.limit, settings.search.max_tokens) == ({}, 10, 8_000)
    assert settings.values == {}


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
    assert folders(settings) == {"docs": project / "docs", "other": project / "other" / "y"}
    assert settings.search.limit == 10  # files above the nearest do not count
    assert settings.values["index"].origin == tmp_path / "project" / "quire.toml"
    assert settings.values["trees.docs.path"].origin == tmp_path / "project" / "quire.toml"


def test_pyproject_counts_if_it_is_about_quire(make: Make, tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[tool.quire.trees]\ndocs = "docs"\n',
        "project/pyproject.toml": '[project]\ndependencies = ["quire"]\n[tool.other]\nx = 1\n',
    }
    settings = make(files)
    assert settings.folder == tmp_path
    assert folders(settings) == {"docs": tmp_path / "docs"}


def test_quire_toml_before_pyproject(make: Make) -> None:
    files = {"project/pyproject.toml": "[tool.quire.search]\nlimit = 3\n", "project/quire.toml": "search.limit = 4\n"}
    assert make(files).search.limit == 4


def test_a_broken_pyproject_of_others_is_theirs(make: Make) -> None:
    assert make({"project/pyproject.toml": "# we use quire\n[tool\n"}).search.limit == 10
    with pytest.raises(InputError, match=r"pyproject\.toml: not TOML in UTF-8: .*line 3, column 1"):
        make({"project/pyproject.toml": "[tool.quire]\n\n=\n"})


def test_the_users_file_stands_back(make: Make, home: Path) -> None:
    files = {
        "home/quire/quire.toml": "[search]\nlimit = 3\nmax_tokens = 500\n",
        "project/quire.toml": "[search]\nlimit = 4\n",
    }
    settings = make(files, QUIRE_SEARCH_BOOSTS_TITLE="7")
    assert (settings.search.limit, settings.search.max_tokens, settings.search.boosts.title) == (4, 500, 7.0)
    assert settings.values["search.max_tokens"].origin == home / "quire" / "quire.toml"
    assert settings.values["search.boosts.title"].origin == "QUIRE_SEARCH_BOOSTS_TITLE"


def test_trees_and_index_come_from_one_file(make: Make, home: Path, tmp_path: Path) -> None:
    users = {"home/quire/quire.toml": 'index = "ix"\n[trees]\nnotes = "notes"\n'}
    (tmp_path / "project" / ".quire").mkdir(parents=True)  # an index that is there is no project
    settings = make(users)
    assert (settings.index, folders(settings)) == (home / "quire" / "ix", {"notes": home / "quire" / "notes"})
    assert settings.folder == tmp_path / "project"
    settings = make({**users, "project/quire.toml": "[search]\nlimit = 3\n"})
    assert (settings.index, folders(settings)) == (None, {"project": tmp_path / "project"})


def test_a_project_without_trees_is_one_tree(make: Make, tmp_path: Path) -> None:
    settings = make({"my project/quire.toml": ""}, "my project/deep")
    assert folders(settings) == {"my-project": tmp_path / "my project"}
    assert settings.file == tmp_path / "my project" / "quire.toml"


def test_trees_of_the_user_that_are_searched_in_every_project(make: Make, home: Path, tmp_path: Path) -> None:
    own = '[trees]\nnotes = { path = "n", always = true }\nother = "o"\n'
    files = {"home/quire/quire.toml": own, "project/quire.toml": '[trees]\ndocs = "docs"\n'}
    settings = make(files)
    assert folders(settings) == {"notes": home / "quire" / "n", "docs": tmp_path / "project" / "docs"}
    assert settings.values["trees.notes.path"].origin == home / "quire" / "quire.toml"
    assert settings.values["trees.docs.path"].origin == settings.file == tmp_path / "project" / "quire.toml"
    settings = make({**files, "project/quire.toml": '[trees]\nnotes = "mine"\n'})  # the project's own wins
    assert folders(settings) == {"notes": tmp_path / "project" / "mine"}
    assert settings.always == ()
    assert settings.values["trees.notes.path"].origin == tmp_path / "project" / "quire.toml"


@pytest.mark.parametrize(
    ("text", "index", "file"),
    [
        ('index = "ix"\n', "home/quire/ix", "home/quire/quire.toml"),
        ('[trees]\nnotes = "notes"\n', None, "home/quire/quire.toml"),
        ("[search]\nlimit = 3\n", None, None),  # it says nothing of folders
    ],
)
def test_the_users_file_where_there_is_no_project(
    make: Make, tmp_path: Path, text: str, index: str | None, file: str | None
) -> None:
    settings = make({"home/quire/quire.toml": text})
    assert (settings.index, settings.file) == (index and tmp_path / index, file and tmp_path / file)
    assert settings.folder == tmp_path / "project"


def test_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert load(tmp_path, {}).search.limit == 10
    assert load(tmp_path, {"XDG_CONFIG_HOME": "relative/does/not/count"}).search.limit == 10


@pytest.mark.skipif(sys.platform == "win32", reason="HOME is POSIX's")
def test_home_in_paths(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    settings = make({"home/quire/quire.toml": '[trees]\nnotes = "~/notes"\n'}, QUIRE_INDEX="~/ix")
    assert folders(settings) == {"notes": tmp_path / "me" / "notes"}
    assert settings.index == tmp_path / "me" / "ix"


# What a file may say


def test_a_store_that_answers(make: Make, tmp_path: Path) -> None:
    text = '[index]\nstore = "lancedb:sections#manual"\n'
    settings = make({"project/quire.toml": text})
    assert (settings.index, settings.store) == (None, f"lancedb:{tmp_path}/project/sections#manual")
    assert settings.values["index.store"].origin == tmp_path / "project" / "quire.toml"
    text = text.replace("sections", "s3://bucket/sections")
    assert make({"home/quire/quire.toml": text}, "other").store == "lancedb:s3://bucket/sections#manual"
    assert make({"project/quire.toml": ""}).store == ""  # a project has its own


def test_trees_by_path_and_by_table(make: Make, tmp_path: Path) -> None:
    text = '[trees]\na = "x"\nb = {path = "y", include = "*.md"}\n'
    text += '[trees.c]\npath = "z"\nlanguage = "german"\nexclude = ["q/"]\n'
    project = tmp_path / "project"
    assert make({"project/quire.toml": text}).trees == {
        "a": Tree(path=str(project / "x")),
        "b": Tree(path=str(project / "y"), include=("*.md",)),
        "c": Tree(path=str(project / "z"), language="german", exclude=("q/",)),
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
    assert (settings.search.limit, settings.search.max_tokens) == (3, 4000)
    own = settings.search
    assert (own.aggregation_threshold, own.min_aggregation_matches, own.score_cap_multiplier) == (0.25, 3, 3.0)
    assert (own.parent_rule, own.per_document, own.boosts.title) == ("any", 0, 5.0)
    assert own.boosts.body == 1.0


def test_a_byte_order_mark_is_skipped(make: Make) -> None:
    assert make({"project/quire.toml": "\ufeff[search]\nlimit = 3\n"}).search.limit == 3


def test_every_search_setting_has_a_variable(make: Make) -> None:
    values = {
        f"search.{name}": field.choices[-1] if field.choices else type(field.default)(int(field.limits[0] or 0) + 1)
        for name, field in search_fields().items()
    }
    variables = {name: "QUIRE_" + name.replace(".", "_").upper() for name in values}
    settings = make({}, **{variables[name]: str(value) for name, value in values.items()})
    for name, value in values.items():
        assert settings.values[name] == (value, variables[name])
        assert attrgetter(name)(settings) == value


def test_an_empty_variable_is_none(make: Make) -> None:
    settings = make({}, QUIRE_SEARCH_LIMIT="", QUIRE_INDEX="")
    assert (settings.search.limit, settings.index) == (10, None)


REFUSED = [
    (
        "[serch]\nlimit = 3\n",
        ["unknown key serch (did you mean search?); valid: index, trees, chunk, search, embed, context"],
    ),
    ("limit = 3\n", ["unknown key limit; valid: index"]),
    ("[search]\nlimt = 3\n", ["unknown key search.limt (did you mean search.limit?)", "search.max_tokens"]),
    ("[search.boosts]\ntitel = 3\n", ["unknown key search.boosts.titel (did you mean search.boosts.title?)"]),
    ("search = 3\n", ["search=3", "a table"]),
    ("[search]\nboosts = [1]\n", ["search.boosts=[1]", "a table"]),
    ("[search]\nlimit = 'ten'\n", ["search.limit='ten' is invalid: must be a whole number from 1 to"]),
    ("[search]\naggregation_threshold = nan\n", ["search.aggregation_threshold=nan", "a number from 0 to 1"]),
    ("[search]\nparent_rule = 'all'\n", ["search.parent_rule='all'", "one of 'best', 'any'"]),
    ("index = 3\n", ["index=3", "a folder, or a table with a store"]),
    ("index = ''\n", ["index=''", "a folder, or a table with a store"]),
    ("[index]\nstore = 'sections'\n", ["index.store='sections'", "must be a store, as in lancedb:sections"]),
    ("[index]\nfolder = 'x'\n", ["unknown key index.folder", "valid: index.store"]),
    ("[index]\nstore = 'lancedb:../x'\n", ["index.store leads out of the project's folder", "only the command line"]),
    ("[index]\nstore = 'lancedb:s3://x/y'\n", ["index.store is an address", "only the command line, the environment"]),
    ("trees = ['docs']\n", ["trees=['docs']", "a table"]),
    ("[trees]\ndocs = 3\n", ["trees.docs=3", "a path, or a table with a path"]),
    ("[trees]\n'a b' = 'x'\n", ["trees.a b", "letters, digits"]),
    ("[trees]\n'a:b' = 'x'\n", ["trees.a:b", "letters, digits"]),
    ("[trees.docs]\nlanguage = 'german'\n", ["trees.docs.path is missing"]),
    ("[trees.docs]\npath = 'x'\nlanguage = 'germn'\n", ["trees.docs.language='germn'", "'german'", "'none'"]),
    (
        "[trees.docs]\npath = 'x'\nexclud = ['y']\n",
        ["unknown key trees.docs.exclud (did you mean trees.docs.exclude?)"],
    ),
    ("[trees.docs]\npath = 'x'\nexclude = 3\n", ["trees.docs.exclude=3", "a list of patterns"]),
    ("[trees.docs]\npath = 'x'\ninclude = ['a', 3]\n", ["trees.docs.include=['a', 3]", "a list of patterns"]),
    ("[trees.docs]\npath = 'x'\nweight = -1\n", ["trees.docs.weight=-1", "a number from 0 to 1000"]),
    ('[trees]\ndocs = "a\\u0000b"\n', ["trees.docs", "a path"]),
    ("[trees]\ndocs = ''\n", ["trees.docs.path is missing"]),
    ("context = 3\n", ["context=3", "a list of tables"]),
    ("context = [3]\n", ["context.0=3", "a table"]),
    ("[[context]]\nwords = ['x']\n", ["context.0.files is missing; patterns for source files"]),
    ("chunk = 3\n", ["chunk=3", "a table"]),
    ("[chunk]\ntarget_token = 3\n", ["unknown option chunk.target_token (did you mean chunk.target_tokens?)"]),
    ("[chunk]\nstrategy = 'flw'\n", ["chunk.strategy: unknown strategy 'flw' (did you mean 'flow'?); valid: 'packed'"]),
    ("[chunk]\nstrategy = ['flow']\n", ["chunk.strategy: unknown strategy"]),
    ("[chunk]\nmax_tokens = 'x'\n", ["chunk.max_tokens='x'", "a whole number"]),
    ("[chunk]\nhard_cap = [1]\n", ["chunk.hard_cap=[1]", "a whole number"]),
    ("[chunk]\nhard_cap = 99\nmax_tokens = 99\n", ["two names of one option"]),
    ("[chunk]\nstrategy = 'flow'\nhard_cap = 99\n", ["option chunk.hard_cap", "calls it chunk.max_tokens"]),
    ("[chunk]\ntarget = 99\nhard_cap = 64\n", ["chunk.target=99", "at most chunk.hard_cap=64"]),
    ("[chunk]\ntokenizer = '../tokenizer.json'\n", ["chunk.tokenizer", "o200k_base", "--tokenizer takes a file"]),
    ("[trees.a]\npath = 'x'\nchunk = 3\n", ["trees.a.chunk=3", "a table"]),
    ("[trees.a]\npath = 'x'\nchunk.strategy = 'flw'\n", ["trees.a.chunk.strategy: unknown strategy 'flw'"]),
    ("[trees.a]\npath = 'x'\nchunk.max_tokens = 'x'\n", ["trees.a.chunk.max_tokens='x'", "a whole number"]),
    ("[trees.a]\npath = 'x'\nchunk.tokenizer = 'x.json'\n", ["trees.a.chunk.tokenizer", "--tokenizer takes a file"]),
    (
        "[chunk]\nstrategy = 'flow'\n[trees.a]\npath = 'x'\nchunk.hard_cap = 99\n",
        ["option trees.a.chunk.hard_cap", "calls it trees.a.chunk.max_tokens"],
    ),
    (
        "[chunk]\nmax_tokens = 64\n[trees.a]\npath = 'x'\nchunk.target_tokens = 99\n",
        ["trees.a.chunk.target_tokens=99", "at most chunk.max_tokens=64"],
    ),
    (
        "[chunk]\nhard_cap = 64\n[trees.a]\npath = 'x'\nchunk.target = 99\n",
        ["trees.a.chunk.target=99", "at most chunk.max_tokens=64"],
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
        max_tokens = 400
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
    assert settings.chunk_options() == {"strategy": "packed", "max_tokens": 400, **common}
    assert settings.chunk_options("readme") == settings.chunk_options()
    assert settings.chunk_options("docs") == {"strategy": "packed", "max_tokens": 300, "target_tokens": 100, **common}
    assert settings.chunk_options("api") == {"strategy": "flow", "max_tokens": 200, **common}
    assert settings.chunk_options("api", "packed") == {"strategy": "packed", "max_tokens": 200, **common}
    assert settings.values["trees.docs.chunk.hard_cap"].value == 300
    assert "trees.readme.chunk.hard_cap" not in settings.values


def test_the_own_chunk_options_of_a_tree_do_not_need_a_table_for_all(make: Make) -> None:
    user = {"home/quire/quire.toml": "[chunk]\nstrategy = 'sections'\nmax_depth = 2\n"}
    settings = make({**user, "project/quire.toml": "[trees.a]\npath = 'a'\nchunk.strategy = 'flow'\n"})
    assert settings.chunk_options("a") == {"strategy": "flow"}
    assert settings.chunk == {"strategy": "sections", "max_depth": 2}


def test_keys_in_pyproject_have_their_full_name(make: Make) -> None:
    with pytest.raises(OptionError, match=r"unknown key tool\.quire\.search\.limt "):
        make({"project/pyproject.toml": "[tool.quire.search]\nlimt = 3\n"})
    with pytest.raises(OptionError, match=r"tool\.quire\.search\.limit=0 is invalid"):
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
    with pytest.raises(InputError, match=r"not TOML in UTF-8: .*position 2"):
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


PAGE = Path(__file__).parents[3] / "docs" / "reference" / "configuration.md"
UPDATE = "QUIRE_UPDATE_DOCS" in os.environ


TABLES = {
    "trees": {f"trees.NAME.{name}": field for name, field in fields(Tree).items()},
    "embed": {f"embed.{name}": field for name, field in fields(EmbedSettings).items()},
    "search": {f"search.{name}": field for name, field in search_fields().items()},
    "context": {f"context.{name}": field for name, field in fields(ContextRule).items()},
}


@pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")
@pytest.mark.parametrize("name", TABLES)
def test_the_page_has_every_key_as_it_is_declared(name: str) -> None:
    """``QUIRE_UPDATE_DOCS=1`` writes that part of the page anew."""
    head = "| key | default | may be | meaning |\n|---|---|---|---|\n"
    rows = (
        f"| `{key}` | {'' if field.default is None else f'`{toml_value(field.default)}`'} | {field.rule} | {field.meaning} |\n"
        for key, field in TABLES[name].items()
    )
    before, begin, rest = PAGE.read_text("utf-8").partition(f"<!-- generated: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    made = f"{before}{begin}{head}{''.join(rows)}{end}{after}"
    if UPDATE:
        PAGE.write_text(made, "utf-8", newline="\n")
    assert PAGE.read_text("utf-8") == made, (
        "out of date: QUIRE_UPDATE_DOCS=1 pytest tests/unit/workspace/test_settings.py"
    )


@pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")
def test_the_example_on_the_page_can_be_read(make: Make) -> None:
    example = PAGE.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    settings = make({"project/quire.toml": example})
    assert list(settings.trees) == ["docs", "readme", "handbuch"]
    assert (settings.search.limit, settings.search.max_tokens, settings.search.boosts.title) == (5, 4000, 3.0)


@pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")
def test_the_schema_for_editors() -> None:
    """The file that editors load is that of ``quire config --schema``, and says what quire says."""
    file = PAGE.with_name("quire.schema.json")
    made = json.dumps(json_schema()) + "\n"
    if UPDATE:
        file.write_text(made, "utf-8", newline="\n")
    assert file.read_text("utf-8") == made, (
        "out of date: QUIRE_UPDATE_DOCS=1 pytest tests/unit/workspace/test_settings.py"
    )
    validator = Draft202012Validator(json_schema())
    for example in re.findall("```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        assert list(validator.iter_errors(tomllib.loads(example))) == []
    wrong = ["[search]\nlimits = 1", "[search]\nlimit = 0", "[chunk]\nstrategy = 'x'", "[trees.a.chunk]\noverlaps = 1"]
    for text in wrong:
        assert list(validator.iter_errors(tomllib.loads(text)))


# Embedding


def test_the_users_own_file_may_choose_a_model(make: Make, home: Path) -> None:
    settings = make(
        {"home/quire/quire.toml": '[embed]\nendpoint = "https://example.com/v1"\nmodel = "m"\nwindow = 512\n'}
    )
    assert settings.embed == {"endpoint": "https://example.com/v1", "model": "m", "window": 512}
    assert settings.values["embed.model"].origin == home / "quire" / "quire.toml"


@pytest.mark.parametrize("key", ['endpoint = "https://evil.example"', 'embedder = "wordllama"'])
@pytest.mark.parametrize(("file", "table"), [("quire.toml", "embed"), ("pyproject.toml", "tool.quire.embed")])
def test_a_project_may_not(make: Make, key: str, file: str, table: str) -> None:
    with pytest.raises(
        OptionError,
        match=rf"\[{table}\] is not allowed in a project; .* only the command line, the environment or your own",
    ):
        make({f"project/{file}": f"[{table}]\n{key}\n"})


@pytest.mark.parametrize("wrong", ["endpoint = 3", "window = 'x'", "window = true", "key = 'secret'"])
def test_invalid_models(make: Make, wrong: str) -> None:
    with pytest.raises(OptionError, match="embed"):
        make({"home/quire/quire.toml": f"[embed]\n{wrong}\n"})
