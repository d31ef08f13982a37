"""``quire eval``: how well the documents answer questions.

The tables show the figures of the JSON that ``--json`` prints.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire import pipeline
from quire.cli.command_group import NOTHING_FOUND
from quire.cli.open_workspace import open_workspace, update_vectors
from quire.cli.output import Paint, Progress, count_of, echo, note, tracked, visible, write_json
from quire.cli.shared_options import (
    embedding_options,
    html_option,
    index_option,
    json_option,
    mode_option,
    no_update_option,
    not_empty,
    paths_argument,
    quire_command,
)
from quire.cli.tables import print_table
from quire.errors import did_you_mean
from quire.evals.figures import MEASURES, SHARES, differences, figures
from quire.evals.folds import ask_in_folds, sample
from quire.evals.outcomes import Outcome, ask
from quire.evals.questions import Question, link_questions, pasted_questions, read_questions
from quire.indexed import Index
from quire.model import Document
from quire.search.fusion import Mode
from quire.search.ranking_settings import SearchSettings
from quire.settings.precedence import search_settings
from quire.web.html_pages import eval_page
from quire.workspace import Workspace
from quire.write.atomic_file import new_file

if TYPE_CHECKING:
    from quire.embed import Embedder

_SOURCES = {"links": "the documents' links", "pasted": "the documents' sentences"}
_MOST_SHOWN = 10
"""How many of the questions that two settings answer differently are printed; JSON has all."""
_LABEL = max(len(label) for label, _ in MEASURES.values())


def _thresholds(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, float]:
    """``mrr=0.75`` as a name and a number."""
    thresholds = {}
    for value in values:
        name, _, number = value.partition("=")
        if name not in SHARES:
            raise click.BadParameter(
                f"no figure {name}{did_you_mean(name, SHARES)}; choose from {', '.join(SHARES)}", ctx, param
            )
        try:
            thresholds[name] = float(number)
        except ValueError:
            thresholds[name] = -1.0
        if not 0 <= thresholds[name] <= 1:
            raise click.BadParameter(f"{value}: write a number from 0 to 1, as in {name}=0.75", ctx, param)
    return thresholds


@quire_command("quire eval docs --sample 20", "quire eval docs --sample 20 --misses")
@paths_argument
@click.option(
    "--questions", "file", metavar="FILE", callback=not_empty, help="Questions: JSONL with query and answers."
)
@click.option("--pasted", is_flag=True, help="Questions: sentences of the documents, as if pasted.")
@click.option("--words", type=click.IntRange(1), metavar="N", help="With --pasted, ask only the first N words of each.")
@click.option("--sample", "most", type=click.IntRange(1), metavar="N", help="Ask only N of the questions.")
@click.option("--misses", is_flag=True, help="List the questions whose first result is wrong.")
@click.option(
    "--fail-under",
    "thresholds",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_thresholds,
    help=f"Exit with 1 if a figure is lower: mrr=0.75. Repeatable. Names: {', '.join(SHARES)}.",
)
@click.option(
    "--compare",
    "files",
    nargs=2,
    metavar="A.toml B.toml",
    callback=not_empty,
    help="Compare the search settings of two configuration files.",
)
@mode_option
@embedding_options
@html_option
@json_option
@index_option
@no_update_option
def command(
    *,
    paths: tuple[str, ...],
    file: str | None,
    pasted: bool,
    words: int | None,
    most: int | None,
    misses: bool,
    thresholds: Mapping[str, float],
    files: tuple[str, str] | None,
    mode: Mode,
    embedding: Mapping[str, Any],
    html: str | None,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Measure how well the documents answer questions.

    Asks the questions of FILE, each a line of JSON with a query and the ids or paths of the sections that answer it.
    Without --questions, uses the documents' links: the text of a link is the query, its target is the
    answer. Each is asked in an index without its link. With --pasted, uses sentences that one section has, and asks for
    that section. Prints how often, and after how many tokens, the right section
    is found, with 95 % intervals. Without PATH, quire searches what `quire search` would.
    """
    if files and (thresholds or misses or html):
        raise click.UsageError("--compare prints differences; leave out --fail-under, --misses and --html")
    if (pasted and file) or (words and not pasted):
        raise click.UsageError("choose --questions FILE or --pasted; --words belongs to --pasted")
    named = [search_settings(Path(path)) for path in files or ()]
    with open_workspace(paths, index_folder=index_folder, update=not no_update) as workspace:
        if not workspace.documents():
            if as_json:
                write_json(None)
            return NOTHING_FOUND
        if mode != "words" and (embedding or not no_update):
            update_vectors(workspace, embedding)
        settings = named or [workspace.settings.search]
        embedder = None if mode == "words" else workspace.index.embedder()
        if file or pasted:
            questions = sample(read_questions(Path(file), file), most) if file else []
            questions = questions or pasted_questions(_documents(workspace), most, words)
            results = _ask(workspace, questions, settings, mode, embedder)
        else:
            results = _ask_links(workspace, most=most, settings=settings, mode=mode, embedder=embedder)
    head = {"questions": len(results[0]), "source": file or ("pasted" if pasted else "links")}
    if files:
        return _compare(head, files, *results, as_json=as_json)
    record = _record(head, results[0])
    if html:
        with new_file(Path(html)) as stream:
            stream.write(eval_page(record, {name: label for name, (label, _) in MEASURES.items()}))
        note(visible(f"wrote {html}"))
    elif as_json:
        write_json(record)
    else:
        _show(head, results[0], misses=misses)
    return _check(results[0], thresholds)


def _ask(
    workspace: Workspace,
    questions: Sequence[Question],
    settings: Sequence[SearchSettings],
    mode: Mode,
    embedder: Embedder | None,
) -> list[list[Outcome]]:
    """The outcomes of questions that the index itself can be asked, for each of the settings."""
    outcomes = []
    for search_options in settings:
        with (
            Index.open(workspace.index_folder, settings=search_options, embedder=embedder) as index,
            Progress() as progress,
        ):
            where = {"trees": workspace.selected_trees, "path": workspace.path_filters()}
            outcomes.append(ask(index, questions, **where, mode=mode, on_progress=progress.step))
    return outcomes


def _documents(workspace: Workspace) -> dict[str, dict[str, Document]]:
    """The documents that are searched, by tree and path."""
    trees: dict[str, dict[str, Document]] = {name: {} for name in workspace.selected_trees}
    for record in tracked(workspace.documents(), attrgetter("path")):
        trees[record.tree][record.path] = pipeline.parse(workspace.index.get(record.id).text, path=record.path)
    return trees


def _ask_links(
    workspace: Workspace,
    *,
    most: int | None,
    settings: Sequence[SearchSettings],
    mode: Mode,
    embedder: Embedder | None,
) -> list[list[Outcome]]:
    """The outcomes of questions made from links, for each of the settings."""
    index, trees = workspace.index, _documents(workspace)
    languages = {name: tree.language for name, tree in index.trees().items() if name in trees}
    questions = link_questions(trees)
    with Progress() as progress:
        return ask_in_folds(
            trees,
            languages,
            sample(questions, most),
            len(questions),
            settings=settings,
            mode=mode,
            embedder=embedder,
            on_progress=progress.step,
        )


def _record(head: dict[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    missed = [_miss_record(outcome) for outcome in outcomes if outcome.rank != 1]
    return {**head, "figures": {name: figure._asdict() for name, figure in figures(outcomes).items()}, "misses": missed}


def _show(head: dict[str, Any], outcomes: Sequence[Outcome], *, misses: bool) -> None:
    paint, values = Paint(sys.stdout), figures(outcomes)
    echo(_title(head))
    rows = []
    for name, (label, _) in MEASURES.items():
        value, low, high = (_number(name, number) for number in values[name])
        rows.append((label, value, f"{low} to {high}"))
    print_table(rows, (str, paint.number, paint.faint), right=[1])
    for outcome in outcomes if misses else ():
        if outcome.rank != 1:
            _show_miss(outcome, paint)


def _check(outcomes: Sequence[Outcome], thresholds: Mapping[str, float]) -> int:
    """1 if a figure is below its threshold, else 0."""
    values = figures(outcomes) if thresholds else {}
    low_ones = {name: least for name, least in thresholds.items() if (values[name].value or 0.0) < least}
    for name, least in low_ones.items():
        note(f"{name} is {_number(name, values[name].value)}, below {least:g}")
    return NOTHING_FOUND if low_ones else 0


def _compare(
    head: dict[str, Any], files: Sequence[str], old: Sequence[Outcome], new: Sequence[Outcome], *, as_json: bool
) -> int:
    columns = [figures(old), figures(new)]
    changes = differences(old, new)
    change = changes["mrr"]
    better = None if change.may_be_zero else files[int((change.value or 0.0) > 0)]
    if as_json:
        names = ("a", "b", "difference")
        record = {
            name: {key: figure._asdict() for key, figure in column.items()}
            for name, column in zip(names, (*columns, changes), strict=True)
        }
        others = [{**_miss_record(outcome), "rank": ranks} for outcome, ranks in _different(old, new)]
        write_json({**head, "files": files, "better": better, **record, "differences": others})
        return 0
    paint = Paint(sys.stdout)
    echo(_title(head))
    echo(paint.faint(f"A = {files[0]}, B = {files[1]}"))
    rows = [["", "A", "B", "B - A", ""]]
    for name, (label, _) in MEASURES.items():
        value, low, high = (_number(name, number, "+") for number in changes[name])
        rows.append([label, *(_number(name, column[name].value) for column in columns), value, f"{low} to {high}"])
    print_table(rows, (str, paint.number, paint.number, paint.number, paint.faint), right=[1, 2, 3])
    if better is None:
        echo("Neither is better: the difference in MRR may be noise, its interval contains 0.")
    else:
        echo(visible(f"{better} is better: the interval of the difference in MRR does not contain 0."))
    for outcome, ranks in _different(old, new)[:_MOST_SHOWN]:
        echo(visible(f"{'-'.join(str(rank or 'none') for rank in ranks):>9}  {outcome.question.query}"))
    return 0


def _different(old: Sequence[Outcome], new: Sequence[Outcome]) -> list[tuple[Outcome, tuple[int, int]]]:
    """The questions with other ranks, 0 for none, in both; the largest differences of 1 / rank first."""
    pairs = [(after, (before.rank, after.rank)) for before, after in zip(old, new, strict=True)]
    shares = {rank: 1 / rank if rank else 0.0 for _, ranks in pairs for rank in ranks}
    different = [(after, ranks) for after, ranks in pairs if ranks[0] != ranks[1]]
    return sorted(different, key=lambda row: -abs(shares[row[1][0]] - shares[row[1][1]]))


def _title(head: Mapping[str, Any]) -> str:
    source = _SOURCES.get(head["source"], head["source"])
    return visible(f"{count_of(head['questions'], 'question')} from {source}, 95 % intervals")


def _miss_record(outcome: Outcome) -> dict[str, Any]:
    question = outcome.question
    return {"query": question.query, "answers": question.answers, "rank": outcome.rank, "first": outcome.first}


def _show_miss(outcome: Outcome, paint: Paint) -> None:
    echo()
    rank = f"found at {outcome.rank}" if outcome.rank else "not found"
    echo(f"{paint.title(outcome.question.query)}  {paint.faint(rank)}")
    echo(f"  first: {paint.path(outcome.first or 'nothing')}")
    echo(f"  right: {paint.path(', '.join(outcome.question.answers))}")


def _number(name: str, value: float | None, sign: str = "") -> str:
    if value is None:
        return "–"
    return f"{value:{sign}.3f}" if name in SHARES else f"{value:{sign},.0f}"
