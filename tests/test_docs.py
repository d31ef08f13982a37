"""The documentation is true: its examples run, its links lead somewhere, and what can be generated is.

``QUIRE_UPDATE_DOCS=1 pytest tests/test_docs.py`` writes the generated parts anew: docs/reference/cli.md, the pages of
docs/reference/cli/, and in docs/strategies.md whatever stands between ``<!-- generated: name -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import quire
import strategy_picture as picture
from quire.cli.command_group import COMMANDS, GROUPS
from quire.cli.command_group import quire as group
from quire.model.options import DEFAULT_TOKENIZER, STRATEGIES, Options, default_tokenizer, own_names
from quire.model.validation import Field, fields

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
STRATEGIES_PAGE = DOCS / "strategies.md"
EXAMPLE = DOCS / "strategies" / "guide.md"
REFERENCE = DOCS / "reference" / "cli.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
UPDATE = "QUIRE_UPDATE_DOCS" in os.environ

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not in quire's repository")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def tokens(page: Path) -> Iterator[Token]:
    """All tokens of a page, those inside lines too."""
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8")):
        yield token
        yield from token.children or ()


def compare(page: Path, made: str) -> None:
    """A page is as it would be made now; written if that is asked for."""
    if UPDATE:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(made, "utf-8", newline="\n")
    assert page.read_text("utf-8") == made, f"out of date: QUIRE_UPDATE_DOCS=1 pytest {Path(__file__).name}"


# Examples


def examples(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The Python code on a page, and the packages that ``<!-- needs: chromadb numpy -->`` above it names."""
    above = ""
    for token in tokens(page):
        if token.type == "fence" and token.info.startswith("python"):
            needed = re.fullmatch("<!-- needs: (.*) -->\n*", above)
            yield token.content, needed[1].split() if needed else []
        above = token.content


def skipped_without(packages: list[str]) -> list[pytest.MarkDecorator]:
    missing = [name for name in packages if find_spec(name.partition(".")[0]) is None]
    return [pytest.mark.skip(reason=f"needs {', '.join(missing)}: make test-integrations")] if missing else []


EXAMPLES = [
    pytest.param(page, code, id=f"{name_of(page)}-{number}", marks=skipped_without(packages))
    for page in PAGES
    for number, (code, packages) in enumerate(examples(page), start=1)
]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_has_one_word_behind_its_fence(page) -> None:
    """The site shows no code with more."""
    assert [token.info for token in tokens(page) if token.type == "fence" and " " in token.info.strip()] == []


@pytest.mark.parametrize(("page", "code"), EXAMPLES)
def test_examples_run_and_print_what_they_say(page, code, tmp_path, monkeypatch, capsys) -> None:
    """Each by itself, as a reader copies it; the comment lines that end an example are its output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for file in (tmp_path / "guide.md", tmp_path / "docs" / "guide.md"):
        file.write_bytes(EXAMPLE.read_bytes())
    exec(compile(code, name_of(page), "exec"), {"__name__": "__main__"})
    printed, said = capsys.readouterr().out, SAID.search(code)
    assert said is None or printed == re.sub("^# ", "", said[0], flags=re.MULTILINE)


SAID = re.compile(r"(?:^# .*\n)+\Z", re.MULTILINE)


def test_the_first_example_shows_its_output() -> None:
    first = next(examples(PAGES[0]))[0]
    assert "print(" in first
    assert SAID.search(first)


QUERIES = (
    re.findall('^\\$ quire search "([^"]+)" docs', PAGES[0].read_text("utf-8"), re.MULTILINE) if DOCS.is_dir() else []
)


def test_the_queries_of_the_readme_find_something(tmp_path) -> None:
    assert QUERIES
    with quire.Index.open(tmp_path / "index") as index:
        index.update({"docs": DOCS})
        found = {query: index.search(query, limit=1) for query in QUERIES}
    assert [query for query, results in found.items() if not results] == []


# Links, targets, versions


def links() -> Iterator[Any]:
    for page in PAGES:
        for token in tokens(page):
            target = str(token.attrGet("href") or token.attrGet("src") or "")
            if target and not re.match("[a-z]+:", target):
                yield pytest.param(page, unquote(target), id=f"{name_of(page)}-{target}")


@pytest.mark.parametrize(("page", "target"), list(links()))
def test_links_lead_somewhere(page, target) -> None:
    path, _, fragment = target.partition("#")
    file = page.parent / path if path else page
    assert file.exists()
    assert file.resolve().is_relative_to(ROOT)
    if fragment:
        document = quire.parse(file.read_text("utf-8"), path=file.name)
        assert fragment in {section.anchor for section in document.sections}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_modules_that_are_named_are_there(page) -> None:
    files = [
        f"/{each.relative_to(ROOT)}"
        for folder in ("src", "tests", "benchmarks")
        for each in (ROOT / folder).rglob("*.py")
    ]
    code = (token.content for token in tokens(page) if token.type == "code_inline")
    named = {match[0] for each in code if (match := re.fullmatch(r"[\w/]+\.py", each))}
    assert [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in files)] == []


@pytest.mark.parametrize("page", PAGES[:2], ids=name_of)
def test_make_targets_exist(page) -> None:
    code = (token.content for token in tokens(page) if token.type in ("fence", "code_inline", "code_block"))
    named = {target for each in code for target in re.findall(r"\bmake ([a-z][a-z-]*)", each)}
    assert named
    assert named <= set(re.findall("^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def test_the_changelog_has_this_version() -> None:
    """Below the one that comes next, and with five highlights first."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    _, title, *sections = quire.parse(text).sections
    versions = [section.title.split()[0] for section in sections if section.depth == 2]
    assert title.depth == 1
    assert versions[:2] == ["Unreleased", quire.__version__]
    highlights = text.partition(f"\n## {quire.__version__}\n")[2].partition("\n### ")[0]
    assert len(re.findall(r"^\d\. \*\*", highlights, re.MULTILINE)) == 5


# docs/reference/cli.md and docs/reference/cli/


CONVENTIONS = """\
Data goes to standard output, everything else to standard error; with `--json` the data is [JSON](json.md) and nothing
else. Exit codes: 0 found or done, 1 nothing found or a check failed, 2 an error, 130 interrupted (Ctrl-C). `chunk`,
`migrate`, `stats` and `verify` go on after a file that cannot be read, and end with 2. Findings end with a code in
brackets ([every one](findings.md)). `quire --version` prints the version.

On a terminal, long lines are wrapped at words, and what takes longer shows its progress. When piped, text is complete and
plain. `--color`, `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` say otherwise about colours."""

COMPLETION = """\
## Completion in a shell

A shell completes commands and options after one of these lines, in its start file:

| shell | file | line |
|---|---|---|
| Bash 4.4 or newer | `~/.bashrc` | `eval "$(_QUIRE_COMPLETE=bash_source quire)"` |
| Zsh | `~/.zshrc` | `eval "$(_QUIRE_COMPLETE=zsh_source quire)"` |
| Fish | `~/.config/fish/completions/quire.fish` | `_QUIRE_COMPLETE=fish_source quire \\| source` |"""

READ = """\
## What is read

| named | is read as |
|---|---|
| a file that ends in `.md`, `.markdown`, `.mdown`, `.mkd`, `.mkdn`, `.mdx`, `.qmd`, `.rmd` or, a notebook, `.ipynb` | Markdown |
| any other file | text without headings |
| `-`, standard input | Markdown |
| a folder | the Markdown files in it, at any depth, and those that end in `.txt` |

`--syntax` says otherwise, in the commands that cut and in `outline`; the index goes by the ending.

Of a folder, quire leaves out:

- files and folders that `.gitignore` or `.quireignore` names
- hidden files and folders, and symbolic links; `chunk`, `stats` and `verify` read them with `--hidden` and `--follow`
- installed packages: folders called `node_modules`, `site-packages`, `third_party` or `vendor`, or that end in
  `.dist-info` or `.egg-info`, and virtual environments
- build outputs: folders called `build`, `dist` or `target` beside a file such as `package.json`, `pyproject.toml` or
  `Cargo.toml`
- `.txt` files of a code repository, except in folders such as `docs`; `requirements.txt` and `robots.txt` everywhere

A file or folder that is itself named is read, whatever it is called: `quire chunk vendor`. For a tree of quire.toml,
`include = ["**", "vendor/**"]` reads `vendor`, too; without `"**"`, it reads nothing else. `.git` and `.quire` in a
folder are never read. `quire status`, and `index`, `chunk` and `verify` with `-v`, count what was left out, except by
ignore files.

Markdown is CommonMark with GFM (tables, strikethrough, task lists, footnotes, autolinks), front matter in YAML (`---`)
or TOML (`+++`), and `$$` math. A `:::` directive, an MDX component, `<details>` and a wiki link are kept whole where
they fit.

Bytes are UTF-8, with or without a byte order mark, or UTF-16 with one. Others are an error that names the
line; the commands with `--errors replace` put U+FFFD in their place."""


def page_of(title: str) -> Path:
    """The page of a group of commands."""
    return REFERENCE.with_suffix("") / f"{title.lower().replace(' ', '-')}.md"


def reference() -> dict[Path, str]:
    """What all commands share, and a page for each group with all options, as the help has them."""
    top = click.Context(group, info_name="quire", **group.context_settings)
    listed = [
        _table(
            (title, "does"),
            [(f"[{name}](cli/{page_of(title).name}#quire-{name})", line) for name, line in commands.items()],
        )
        for title, commands in GROUPS.items()
    ]
    chunk = commands_of(next(iter(GROUPS)))["chunk"]
    shared = _options(chunk, click.Context(chunk, info_name="chunk", parent=top), is_listed=SHARED.__contains__)
    parts = ["# Command line", inspect.cleandoc(group.help or ""), *listed, CONVENTIONS]
    parts += ["## Options of every command", shared, COMPLETION, READ]
    pages = {REFERENCE: parts}
    for title in GROUPS:
        about = f"# Commands: {title}\n\n[Every command](../cli.md) also has `{'`, `'.join(SHARED)}`."
        pages[page_of(title)] = [about]
        for name, command in commands_of(title).items():
            context = click.Context(command, info_name=name, parent=top)
            usage = f"```\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```"
            options = _options(command, context, is_listed=lambda flag: flag not in SHARED)
            examples = f"```sh\n{inspect.cleandoc(chr(10).join(command.epilog.splitlines()[2:]))}\n```"
            pages[page_of(title)] += [
                f"## quire {name}",
                usage,
                inspect.cleandoc(command.help or ""),
                options,
                examples,
            ]
    return {page: "\n\n".join(parts) + "\n" for page, parts in pages.items()}


SHARED = ("--config", "-q", "-v", "--color", "-h")
"""Options of every command."""


def commands_of(title: str) -> dict[str, Any]:
    """The commands of a group."""
    return {name: group.get_command(click.Context(group), name) for name in GROUPS[title]}


def _options(command: click.Command, context: click.Context, is_listed: Callable[[str], bool]) -> str:
    params = (param for param in command.get_params(context) if isinstance(param, click.Option))
    options = (param for param in params if is_listed(param.opts[0]))
    records = [record for option in options if (record := option.get_help_record(context))]
    return _table(("option", "does"), [(f"`{flags}`", " ".join(said.split())) for flags, said in records])


def _escaped(cell: str) -> str:
    return cell.replace("|", r"\|")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in [head, *rows]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


@pytest.mark.parametrize("page", [REFERENCE, *map(page_of, GROUPS)], ids=name_of)
def test_the_reference_is_what_the_commands_say(page) -> None:
    compare(page, reference()[page])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_every_command_and_option(name) -> None:
    title = next(title for title, names in GROUPS.items() if name in names)
    part = page_of(title).read_text("utf-8").partition(f"\n## quire {name}\n")[2].partition("\n## ")[0]
    part += REFERENCE.read_text("utf-8")
    options = [
        flag for param in commands_of(title)[name].params if isinstance(param, click.Option) for flag in param.opts
    ]
    assert [flag for flag in options if not re.search(rf"[`\s]{flag}[`,\s]", part)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "contributing.md"], ids=name_of)
def test_options_of_commands_exist(page) -> None:
    """In blocks, tables and sentences: ``quire NAME … --option``. The examples of contributing.md add some."""
    codes = [token.content for token in tokens(page) if token.type in ("fence", "code_inline")]
    wrong = []
    for name, arguments in re.findall(r"(?m)\bquire ([a-z-]+)((?: [^|&;\n]*)?)", "\n".join(codes).replace("\\\n", "")):
        if name in COMMANDS:
            params = group.get_command(click.Context(group), name).params
            known = {flag for param in params for flag in (*param.opts, *param.secondary_opts)} | {"--help"}
            wrong += [f"quire {name} {flag}" for flag in re.findall(r"(?<= )--[a-z-]+", arguments) if flag not in known]
    assert wrong == []


# docs/strategies.md


def generated() -> dict[str, str]:
    """The parts of docs/strategies.md that are made, by name."""
    text = EXAMPLE.read_text("utf-8")
    cuts = picture.cut(text, EXAMPLE.name)
    drawn = "\n".join(["```", *picture.draw(text, cuts), "```"])
    tables = {
        strategy: _options_table({name: fields(kind)[name] for name in own_names(strategy)})
        for strategy, kind in STRATEGIES.items()
    }
    strategies = {name: f"{tables[name]}\n\n" + "\n".join(picture.table(chunks)) for name, chunks in cuts.items()}
    return {"picture": drawn, "common": _options_table(fields(Options)), **strategies}


def _options_table(declared: Mapping[str, Field]) -> str:
    """Options as their struct declares them."""
    rows = [
        (f"`{name}`", _defaults(name, field), IN_WORDS.get(name, field.rule), field.meaning)
        for name, field in declared.items()
    ]
    return _table(("option", "default", "may be", "is"), rows)


def _defaults(name: str, field: Field) -> str:
    """The default, and for a common option those of strategies that have another one."""
    kinds = STRATEGIES if name in fields(Options) else {}
    others = {strategy: fields(kind)[name].default for strategy, kind in kinds.items()}
    different = [f"; of `{strategy}` `{value!r}`" for strategy, value in others.items() if value != field.default]
    return f"`{field.default!r}`{''.join(different)}"


def test_the_readme_has_the_default_tokenizers() -> None:
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    others = {name: default_tokenizer(name) for name in STRATEGIES if default_tokenizer(name) != DEFAULT_TOKENIZER}
    assert others == {"sections": "estimate"}
    said = "or your model's own counter; `sections` estimates them unless you name one."
    assert f"Tokens are counted exactly, with `{DEFAULT_TOKENIZER}` {said}" in text


def test_the_readme_is_short() -> None:
    """At most 800 words outside of code, and five links to go on with."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).split()) <= 800
    following = text.partition("\n## Where to go next\n")[2].partition("\n\nIn a checkout")[0]
    assert len(re.findall(r"^- \[", following, re.MULTILINE)) == 5


IN_WORDS = {"tokenizer": "[a name, a file, an object or a function](reference/python.md#cutting)"}


PART = re.compile("<!-- generated: ([a-z]+) -->\n(?:.*?\n)??<!-- end -->", re.DOTALL)


def test_pictures_and_options_of_the_strategies_are_as_quire_makes_them() -> None:
    made = generated()
    page = STRATEGIES_PAGE.read_text("utf-8")
    assert sorted(PART.findall(page)) == sorted(made)
    compare(
        STRATEGIES_PAGE, PART.sub(lambda part: f"<!-- generated: {part[1]} -->\n{made[part[1]]}\n<!-- end -->", page)
    )


def test_every_strategy_can_be_chosen() -> None:
    choices = STRATEGIES_PAGE.read_text("utf-8").partition("| choose |")[2].partition("\n\n")[0]
    assert re.findall("^\\| `([a-z]+)`", choices, re.MULTILINE) == list(STRATEGIES)


def test_the_picture_shows_every_chunk() -> None:
    text = EXAMPLE.read_text("utf-8")
    cuts = picture.cut(text, EXAMPLE.name)
    head, *rows = picture.draw(text, cuts)
    assert head.split() == list(STRATEGIES)
    assert len(rows) == text.count("\n")
    assert max(map(len, rows)) <= 83  # what a page of the site shows at 1,280 pixels
    assert sum(len(re.findall("[┌╶├] [0-9]+", row)) for row in rows) == sum(map(len, cuts.values()))


def test_the_example_has_no_violations() -> None:
    text = EXAMPLE.read_text("utf-8")
    assert [quire.verify(text, chunks) for chunks in picture.cut(text, EXAMPLE.name).values()] == [[]] * len(STRATEGIES)
