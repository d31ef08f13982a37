"""Sections for a store without an index on this machine: workers read documents, and this process writes.

Workers send the rows and the links of each document, and how many sections have each term. Rows wait in a temporary
file until all documents are read, because a section also has the words of links that lead to it.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from quire import __version__
from quire.errors import InputError, QuireError
from quire.index import file_records as files
from quire.index.build_journal import BuildJournal, open_journal
from quire.index.changed_files import digest_of
from quire.index.engine import node_fields as schema
from quire.index.engine.analysis import NONE, analyser, normalize
from quire.index.file_records import FileRecord, IndexSettings, TreeRecord, storable
from quire.index.folder import Folder
from quire.index.link_words import LinkRecord, TreeLinks, decode_links
from quire.index.node import Node, decode_node
from quire.index.read_files import IndexedFile, OnProgress, parsed
from quire.index.status import TreeInfo, tree_info
from quire.index.update import choose_slugs
from quire.index.update_plan import Request, plan_update
from quire.model.document import UNTITLED
from quire.model.trees import DEFAULT_LANGUAGE
from quire.model.validation import convert
from quire.run.engines import OnProblem, refuse_problem, results
from quire.run.parts import Listed, Part, PartResult, document_parts, is_shard, is_url, parts_of, read_texts
from quire.stores.node_rows import Copied, Row, decode_record, document_rows, opened_tables, write_documents
from quire.stores.store import batched, in_list

Counts = dict[str, Counter[str]]  # how many nodes have each term, by field
_KEPT = 100  # so many documents that cannot be read are copied from the store at a time


def copy_documents(
    trees: Mapping[str, str],
    target: str,
    *,
    engine: str = "local",
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    on_problem: OnProblem = refuse_problem,
    **options: Any,
) -> Copied:
    """Bring the sections of ``trees`` in a store up to date: folders, URLs or shards by name.

    ``engine`` is ``local`` (processes on this machine) or ``ray``. ``on_problem`` gets each document that cannot be
    read, whose sections stay as they are, and the reason; by default the first one raises an InputError. ``options`` of
    folders are those of ``Index.update``; URLs and shards have ``languages`` only.
    """
    with TemporaryDirectory() as folder:
        settings, parts = _plan(trees, options, Folder(Path(folder, files.DEFAULT_FOLDER)), on_problem)
        if not parts:
            raise QuireError(f"{', '.join(trees.values())}: no documents, so nothing is copied", "check the path")
        failed: set[str] = set()  # documents; of a shard the tree, as it may be any
        running = results(parts, partial(_read, settings.trees), engine=engine, workers=workers)
        with opened_tables(target) as tables, open_journal(Path(folder), None) as journal, closing(running):
            documents = ReadDocuments(settings, journal)
            for number, (part, (value, problems)) in enumerate(zip(parts, running, strict=True)):
                tree = part.options["tree"]
                for path, reason in problems:
                    on_problem(part.name(path), reason)
                    failed.add(tree if is_shard(part.source) else f"{tree}:{storable(path)}")
                documents.add(part, *(value or ((), {})))
                if on_progress:
                    on_progress(number, len(parts), part.source)
            documents.add(parts[0], *documents.stored(tables, failed))
            return write_documents(tables, documents, on_progress)


def _plan(
    trees: Mapping[str, str], options: Mapping[str, Any], folder: Folder, on_problem: OnProblem
) -> tuple[IndexSettings, list[Part]]:
    """The settings of all trees, and their documents in parts; the option ``tree`` of a part names its tree."""
    local = {name: path for name, path in trees.items() if not (is_url(path) or is_shard(path))}
    records, parts = dict[str, TreeRecord](), list[Part]()
    languages = options.get("languages") or {}
    for name, path in trees.items():
        if name not in local:
            records[name] = TreeRecord(os.fsencode(path), languages.get(name, DEFAULT_LANGUAGE))
            parts += [part._replace(options={"tree": name}) for part in parts_of(path)[0]]
    if local:
        request = convert(Request, {"languages": {}, **options, "trees": local})
        plan = choose_slugs(folder, plan_update(folder, request))
        for finding in plan.stale.failed:
            if finding.code != "same-id":  # a folder, whose documents would be taken for removed ones
                raise InputError(finding.path, finding.message)
            on_problem(finding.path, finding.message)
        for name, tree in plan.settings.trees.items():
            records[name], top = tree, Path(os.fsdecode(tree.folder))
            top = top if top.is_dir() else top.parent
            tasks = [task for task in plan.stale.tasks if task.record.tree == name]
            paths = [os.path.relpath(os.fsdecode(task.file), top).replace(os.sep, "/") for task in tasks]
            listed = [Listed(path, task.record.size, "") for path, task in zip(paths, tasks, strict=True)]
            reading: Any = {"errors": tree.reading.errors, "encoding": tree.reading.encoding, "options": {"tree": name}}
            parts += [part._replace(**reading) for part in document_parts(str(top), listed)]
    return IndexSettings(__version__, files.languages_of(records), dict(sorted(records.items()))), parts


def _read(trees: Mapping[str, TreeRecord], part: Part) -> PartResult:
    """The documents of a part, and the counts of their terms; called by workers."""
    texts, problems = read_texts(part)
    name, read, counts = part.options["tree"], list[IndexedFile](), Counts()
    for path, text in texts:
        data = text.encode("utf-8", "surrogatepass")
        record = FileRecord(name, storable(path) or UNTITLED, len(data), 0, 0, racy=False, digest=digest_of(data))
        read.append(_sections(*parsed(record, text, trees[name]), trees[name].language, counts))
    return PartResult((read, counts), problems)


def _sections(
    record: FileRecord, nodes: Sequence[Node], links: LinkRecord, language: str, counts: Counts
) -> IndexedFile:
    """A document with rows instead of fields; its terms, except those of links to it, are added to ``counts``."""
    fields = schema.fields_of(nodes, language)
    rows, first = document_rows(nodes, fields, language), fields.own[0]
    schema.add_links(fields, links, language)
    words = {term for text in first[schema.WORDS] for term in analyser(NONE).analyze(text)}
    terms = [(schema.WORDS, words), (schema.ACCENTED, first.get(schema.ACCENTED, ()))]
    for row in rows:
        terms += [(schema.field(name, language), set(row[name].split())) for name in schema.RANKED]
        terms.append((schema.FLAGS, row[schema.FLAGS].split()))
    for name, some in terms:
        counts.setdefault(name, Counter()).update(some)
    encode = msgspec.msgpack.encode
    return IndexedFile(record, encode(schema.NodeFields({}, rows)), encode(links))


class ReadDocuments:
    """The documents that were read."""

    def __init__(self, settings: IndexSettings, journal: BuildJournal) -> None:
        self.settings, self._journal, self.records = settings, journal, journal.records
        self.trees: dict[str, TreeInfo] = {}
        self._counts: Counts = defaultdict(Counter)

    def add(self, part: Part, read: Sequence[IndexedFile], counts: Counts) -> None:
        """Add the documents of a part."""
        for file in read:
            if file.record.id in self.records:
                raise InputError(part.name(file.record.path), "occurs twice", "give each document a path of its own")
            self._journal.add(file)
        for name, some in counts.items():
            self._counts[name].update(some)

    def stored(self, tables: Any, failed: set[str]) -> tuple[list[IndexedFile], Counts]:
        """Documents that could not be read, as the store has them; ``failed`` are these, or their trees."""
        read, counts = list[IndexedFile](), Counts()
        versions = {msgspec.msgpack.decode(value)[0] for _, value in tables.summaries()}
        trees = {name.partition(":")[0] for name in failed} if versions == {files.VERSION} else ()
        stored = tables.nodes(f"position = 0 AND {in_list(schema.TREE, trees)}", (schema.TREE, schema.DOC))
        unread = {name for tree, name in stored if failed.intersection((tree, name))}.difference(self.records)
        columns = (schema.DOC, schema.POSITION, schema.NODE, "record", schema.BLOB)
        for some in batched(sorted(unread), _KEPT):
            rows = sorted(tables.nodes(in_list(schema.DOC, some), columns), key=itemgetter(0, 1))
            for _, group in groupby(rows, itemgetter(0)):
                _, _, nodes, (record, *_), (links, *_) = zip(*group, strict=True)
                known = decode_record(record)
                language = self.settings.trees[known.tree].language
                read.append(_sections(known, [*map(decode_node, nodes)], decode_links(links), language, counts))
        return read, counts

    def linked(self) -> Iterator[tuple[str, LinkRecord]]:
        """All documents by id, with the links from and to each."""
        for name, tree in self.settings.trees.items():
            links, words = TreeLinks(name, None), self._counts[schema.field("links", tree.language)]
            analyze = analyser(tree.language).analyze
            records = sorted([each for each in self.records.values() if each.tree == name], key=attrgetter("path"))
            for record in records:
                links.signs.update(files.file_signs(record))
            encoded = self._journal.links_of(links.prefix, [record.path for record in records])
            for each in links.follow_all(encoded, self._journal.stream):
                for texts, _ in each.incoming().values():
                    words.update({term for text in texts for term in analyze(normalize(text))})
                yield f"{name}:{each.page.path}", each
            self.trees[name] = tree_info(Path(), tree, dict(+links.signs))

    def rows(self, document_id: str) -> list[Row]:
        """The rows of a document, without links."""
        return self._journal.numbered_nodes(document_id)[1].own

    def counts(self, field: str) -> Mapping[str, int]:
        """How many nodes have each term; only after ``linked``."""
        return self._counts[field]
