"""``quire eval``: how well the documents answer questions; the tables show the figures of the JSON."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import click

from quire import pipeline
from quire.cli.command_options import JSON, PATHS, option, quire_command, refuse
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.open_workspace import INDEX_OPTIONS, MODE, IndexOptions
from quire.cli.output import Paint, Progress, count_of, echo, note, print_table, visible, write_json
from quire.evals.figures import MEASURES, SHARES, Figure, figures
from quire.evals.link_free_index import ask_in_folds
from quire.evals.outcomes import Outcome, ask
from quire.evals.questions import link_questions, pasted_questions, read_questions, sample
from quire.model.document import Document
from quire.model.validation import check, unknown_name
from quire.search.index_api import Index
from quire.search.search_settings import Mode, Share
from quire.workspace.settings import named_file, search_settings
from quire.workspace.workspace import Workspace

_FAIL_UNDER = f"Exit with 1 if a figure is lower: mrr=0.75. Repeatable. Names: {', '.join(SHARES)}."
_SOURCES = {"links": "the documents' links", "pasted": "the documents' sentences"}
_MOST_SHOWN = 10  # how many of the questions that two settings answer differently are printed; JSON has all


def _thresholds(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, float]:
    thresholds = {}
    for value in values:
        name, _, number = value.partition("=")
        if name not in SHARES:
            raise unknown_name(name, SHARES, what="figure")
        thresholds[name] = check(f"--fail-under {name}", number, Share, strict=False)
    return thresholds


@quire_command("quire eval docs --sample 20", "quire eval docs --sample 20 --misses")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    file: str | None = option("Questions: JSONL with query and answers.", "--questions", "FILE"),
    pasted: bool = option("Questions: sentences of the documents, as if pasted."),
    words: int | None = option("With --pasted, ask only the first N words of each.", least=1),
    most: int | None = option("Ask only N of the questions.", "--sample", least=1),
    misses: bool = option("List the questions whose first result is wrong."),
    thresholds: Mapping[str, float] = option(
        _FAIL_UNDER, "--fail-under", "NAME=VALUE", multiple=True, callback=_thresholds
    ),
    files: tuple[str, str] | None = option(
        "Compare the search settings of two configuration files.", "--compare", "A.toml B.toml"
    ),
    mode: Mode = MODE,
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """Asks the questions of FILE, each a line of JSON with a query and the ids or paths of the sections that answer it.
    Without --questions, uses the documents' links: the text of a link is the query, its target is the answer; the link
    itself does not count. With --pasted, the queries are sentences that only one section has. Prints how often, and
    after how many tokens, the right section is found, with 95 % intervals. Without PATH, uses the trees of quire.toml,
    else the current folder.
    """
    unfit, is_unclear = files and (thresholds or misses), (pasted and file) or (words and not pasted)
    refuse(unfit, "--compare prints differences; leave out --fail-under and --misses")
    refuse(is_unclear, "choose --questions FILE or --pasted; --words belongs to --pasted")
    named = [search_settings(named_file(Path(path)).search) for path in files or ()]
    with index.open(paths, mode=mode) as workspace:
        if not workspace.documents():
            if as_json:
                write_json(None)
            return NOTHING_FOUND
        settings = named or [workspace.settings.search]
        model: dict[str, Any] = {"mode": mode, "embedder": None if mode == "words" else workspace.index.embedder()}
        if file or pasted:
            questions = sample(read_questions(Path(file), file), most) if file else []
            questions = questions or pasted_questions(_documents(workspace), most, words)
            where: Any = {"trees": workspace.selected_trees, "without": workspace.unselected(), "mode": mode}
            opened = partial(Index.open, workspace.index_folder, embedder=model["embedder"])
            results = []
            for one in settings:
                with opened(settings=one) as asked_index:
                    results.append(ask(asked_index, questions, **where, on_progress=Progress().step))
        else:
            trees = _documents(workspace)
            languages = {name: tree.language for name, tree in workspace.index.trees().items() if name in trees}
            questions = link_questions(trees)
            asked = (trees, languages, sample(questions, most), len(questions))
            results = ask_in_folds(*asked, settings=settings, on_progress=Progress().step, **model)
    head = {"questions": len(results[0]), "source": file or ("pasted" if pasted else "links")}
    if files:
        _compare(head, files, *results, as_json=as_json)
        return 0
    outcomes = results[0]
    missed = [outcome for outcome in outcomes if outcome.rank != 1]
    values = figures(outcomes)
    record = {**head, "figures": _as_records(values), "misses": list(map(_miss_record, missed))}
    if as_json:
        write_json(record)
    else:
        _show(head, values)
        paint = Paint(sys.stdout)
        for outcome in missed if misses else ():
            rank = f"found at {outcome.rank}" if outcome.rank else "not found"
            echo(f"\n{paint.title(outcome.question.query)}  {paint.faint(rank)}")
            echo(f"  first: {paint.path(outcome.first or 'nothing')}")
            echo(f"  right: {paint.path(', '.join(outcome.question.answers))}")
    low = {name: least for name, least in thresholds.items() if (values[name].value or 0.0) < least}
    for name, least in low.items():
        note(f"{name} is {_number(name, values[name].value)}, below {least:g}")
    return NOTHING_FOUND if low else 0


def _documents(workspace: Workspace) -> dict[str, dict[str, Document]]:
    trees: dict[str, dict[str, Document]] = {name: {} for name in workspace.selected_trees}
    records, progress = workspace.documents(), Progress()
    for done, record in enumerate(records):
        progress.step(done, len(records), record.path)
        trees[record.tree][record.path] = pipeline.parse(workspace.index.get(record.id).text, path=record.path)
    return trees


def _show(head: Mapping[str, Any], *columns: Mapping[str, Figure], files: Sequence[str] = ()) -> None:
    """Print a line for each measure: the values of all columns, and the interval of the last."""
    paint = Paint(sys.stdout)
    source = _SOURCES.get(head["source"], head["source"])
    echo(visible(f"{count_of(head['questions'], 'question')} from {source}, 95 % intervals"))
    sign, rows = ("+", [["", "A", "B", "B - A", ""]]) if files else ("", [])
    for name, (label, _) in MEASURES.items():
        others = [_number(name, column[name].value) for column in columns[:-1]]
        value, low, high = (_number(name, number, sign) for number in columns[-1][name])
        rows.append([label, *map(paint.number, (*others, value)), paint.faint(f"{low} to {high}")])
    if files:
        echo(paint.faint(f"A = {files[0]}, B = {files[1]}"))
    print_table(rows, right=range(1, len(columns) + 1))


def _compare(
    head: Mapping[str, Any], files: Sequence[str], old: Sequence[Outcome], new: Sequence[Outcome], *, as_json: bool
) -> None:
    before, after, changes = figures(old), figures(new), figures(old, new)
    low, high = changes["mrr"].low or 0.0, changes["mrr"].high or 0.0
    better = files[1] if low > 0 else files[0] if high < 0 else None
    pairs = [pair for pair in zip(old, new, strict=True) if pair[0].rank != pair[1].rank]
    pairs.sort(key=lambda pair: -abs(1 / (pair[0].rank or inf) - 1 / (pair[1].rank or inf)))
    if as_json:
        columns = {"a": before, "b": after, "difference": changes}
        record = {name: _as_records(column) for name, column in columns.items()}
        others = [{**_miss_record(second), "rank": (first.rank, second.rank)} for first, second in pairs]
        write_json({**head, "files": files, "better": better, **record, "differences": others})
        return
    _show(head, before, after, changes, files=files)
    if better is None:
        echo("Neither is better: the difference in MRR may be noise, its interval contains 0.")
    else:
        echo(visible(f"{better} is better: the interval of the difference in MRR does not contain 0."))
    for first, second in pairs[:_MOST_SHOWN]:
        ranks = f"{first.rank or 'none'}-{second.rank or 'none'}"
        echo(visible(f"{ranks:>9}  {second.question.query}"))


def _as_records(values: Mapping[str, Figure]) -> dict[str, Any]:
    return {name: figure._asdict() for name, figure in values.items()}


def _miss_record(outcome: Outcome) -> dict[str, Any]:
    question = outcome.question
    return {"query": question.query, "answers": question.answers, "rank": outcome.rank, "first": outcome.first}


def _number(name: str, value: float | None, sign: str = "") -> str:
    if value is None:
        return "–"
    return f"{value:{sign}.3f}" if name in SHARES else f"{value:{sign},.0f}"
