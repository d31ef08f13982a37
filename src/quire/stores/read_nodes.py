"""Sections for a store without an index on this machine: workers read documents, this process follows links and writes.

Workers send the rows of sections and the links of each document, and how many sections have each term. They wait in a
temporary file until all are read, because a section also has the words of links that lead to it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from quire.index.build_journal import BuildJournal, open_journal
from quire.index.changed_files import digest_of
from quire.index.engine.analysis import NONE, analyser, normalize
from quire.index.engine.index_schema import (
    ACCENTED,
    BLOB,
    DOC,
    FLAGS,
    NODE,
    POSITION,
    RANKED,
    TREE,
    WORDS,
    NodeFields,
    add_links,
    field,
    fields_of,
)
from quire.index.file_records import (
    DEFAULT_FOLDER,
    VERSION,
    FileRecord,
    IndexSettings,
    TreeRecord,
    blob_count,
    decode_front_matter,
    file_signs,
    languages_of,
    storable,
)
from quire.index.folder import Folder
from quire.index.link_words import LinkRecord, TreeLinks, decode_links
from quire.index.node import Node, decode_node
from quire.index.read_files import IndexedFile, parsed
from quire.index.status import TreeInfo, tree_info
from quire.index.update import choose_slugs
from quire.index.update_plan import Request, plan_update
from quire.model.trees import DEFAULT_LANGUAGE
from quire.model.validation import convert
from quire.run.engines import results
from quire.run.parts import Listed, Part, PartResult, document_parts, is_shard, is_url, parts_of, read_texts
from quire.stores.node_rows import (
    Copied,
    OnProgress,
    Row,
    document_rows,
    opened_tables,
    stored_summaries,
    write_documents,
)
from quire.stores.store import batched, in_list

Counts = dict[str, Counter[str]]  # how many nodes have each term, by field
_KEPT = 100  # so many documents that cannot be read are copied from the store at a time
_decode_record = msgspec.msgpack.Decoder(FileRecord).decode


def copy_documents(
    trees: Mapping[str, str],
    target: str,
    *,
    engine: str = "local",
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    on_problem: Callable[[str, str], None] | None = None,
    **options: Any,
) -> Copied:
    """Bring the sections of ``trees`` in a store up to date: folders, URLs or shards by name.

    ``engine`` is ``local`` (processes on this machine) or ``ray``. ``on_problem`` gets each document that cannot be
    read, whose sections stay as they are, and the reason; by default the first one raises an InputError. ``options`` of
    folders are those of ``Index.update``; URLs and shards have a language only.
    """
    settings, parts = _plan(trees, options)
    if not parts:
        raise QuireError(f"{', '.join(trees.values())}: no documents, so nothing is copied", "check the path")
    failed: set[str] = set()  # documents; of a shard the tree, as it may be any
    with opened_tables(target) as tables, TemporaryDirectory() as folder, open_journal(Path(folder), None) as journal:
        documents = ReadDocuments(settings, journal)
        running = results(parts, partial(_read, settings.trees), engine=engine, workers=workers)
        with closing(running):
            for number, (part, (value, problems)) in enumerate(zip(parts, running, strict=True)):
                tree = part.options["tree"]
                for path, reason in problems:
                    if on_problem is None:
                        raise InputError(part.name(path), reason)
                    on_problem(part.name(path), reason)
                    failed.add(tree if is_shard(part.source) else f"{tree}:{storable(path)}")
                documents.add(part, *(value or ((), {})))
                if on_progress:
                    on_progress(number, len(parts), part.source)
        documents.add(parts[-1], *documents.kept(tables, failed))
        return write_documents(tables, documents, on_progress)


def _plan(trees: Mapping[str, str], options: Mapping[str, Any]) -> tuple[IndexSettings, list[Part]]:
    """The settings of all trees, and their documents in parts; the option ``tree`` of a part names its tree."""
    local = {name: path for name, path in trees.items() if not (is_url(path) or is_shard(path))}
    remote = {name: path for name, path in trees.items() if name not in local}
    languages = options.get("languages") or {}
    records = {
        name: TreeRecord(os.fsencode(path), languages.get(name, DEFAULT_LANGUAGE)) for name, path in remote.items()
    }
    parts = [part._replace(options={"tree": name}) for name, path in remote.items() for part in parts_of(path)[0]]
    if local:
        with TemporaryDirectory() as home:
            folder = Folder(Path(home, DEFAULT_FOLDER))
            request = {"languages": {}, **options, "trees": local}
            plan = choose_slugs(folder, plan_update(folder, convert(Request, request)))
        for finding in plan.stale.failed:
            raise InputError(finding.path, finding.message)
        for name, tree in plan.settings.trees.items():
            top = Path(os.fsdecode(tree.folder))
            top = top if top.is_dir() else top.parent
            listed = (
                Listed(os.path.relpath(os.fsdecode(task.file), top).replace(os.sep, "/"), task.record.size, "")
                for task in plan.stale.tasks
                if task.record.tree == name
            )
            reading = Part("", options={"tree": name}, errors=tree.reading.errors, encoding=tree.reading.encoding)
            parts += [
                reading._replace(source=part.source, paths=part.paths) for part in document_parts(str(top), listed)
            ]
        records |= plan.settings.trees
    records = {name: records[name] for name in sorted(records)}
    return IndexSettings(__version__, languages_of(records), records), parts


def _read(trees: Mapping[str, TreeRecord], part: Part) -> PartResult:
    """The documents of a part, and the counts of their terms; called by workers."""
    texts, problems = read_texts(part)
    name = part.options["tree"]
    files, counts = [], Counts()
    for path, text in texts:
        data = text.encode("utf-8", "surrogatepass")
        record = FileRecord(name, storable(path), len(data), 0, 0, racy=False, digest=digest_of(data))
        files.append(_sections(*parsed(record, text, trees[name]), trees[name].language, counts))
    return PartResult((files, counts), problems)


def _sections(
    record: FileRecord, nodes: Sequence[Node], links: LinkRecord, language: str, counts: Counts
) -> IndexedFile:
    """A document with rows instead of fields; its terms, except those of links to it, are added to ``counts``."""
    fields = fields_of(nodes, language)
    rows = document_rows(nodes, fields, language)
    add_links(fields, links, language)
    first = fields.own[0]
    words = {term for text in first[WORDS] for term in analyser(NONE).analyze(text)}
    terms = [(WORDS, words), (ACCENTED, first.get(ACCENTED, ()))]
    for row in rows:
        terms += [(field(name, language), set(row[name].split())) for name in RANKED]
        terms.append((FLAGS, row[FLAGS].split()))
    for name, some in terms:
        counts.setdefault(name, Counter()).update(some)
    encode = msgspec.msgpack.encode
    return IndexedFile(record, encode(NodeFields({}, rows)), encode(links))


def _tree(document_id: str) -> str:
    return document_id.partition(":")[0]


class ReadDocuments:
    """The documents that were read."""

    def __init__(self, settings: IndexSettings, journal: BuildJournal) -> None:
        self.settings, self._journal, self.records = settings, journal, journal.records
        self.trees: dict[str, TreeInfo] = {}
        self._counts: Counts = defaultdict(Counter)

    def add(self, part: Part, files: Sequence[IndexedFile], counts: Counts) -> None:
        """Add the documents of a part."""
        for file in files:
            if file.record.id in self.records:
                raise InputError(part.name(file.record.path), "occurs twice", "give each document a path of its own")
            self._journal.add(file)
        for name, some in counts.items():
            self._counts[name].update(some)

    def kept(self, tables: Any, failed: set[str]) -> tuple[list[IndexedFile], Counts]:
        """Documents that could not be read, as the store has them; ``failed`` are these, or their trees."""
        files, counts = list[IndexedFile](), Counts()
        trees = set(map(_tree, failed))
        stored = (
            [name for (name,) in tables.nodes(f"position = 0 AND {in_list(TREE, trees)}", (DOC,))] if failed else []
        )
        unread = {name for name in stored if name not in self.records and not failed.isdisjoint((name, _tree(name)))}
        versions = {msgspec.msgpack.decode(value)[0] for _, value in stored_summaries(tables)}
        for some in batched(sorted(unread) if versions == {VERSION} else (), _KEPT):
            rows = sorted(tables.nodes(in_list(DOC, some), (DOC, POSITION, NODE, "record", BLOB)), key=itemgetter(0, 1))
            for name, group in groupby(rows, itemgetter(0)):
                _, _, nodes, records, links = zip(*group, strict=True)
                language = self.settings.trees[_tree(name)].language
                known = _decode_record(records[0]), [*map(decode_node, nodes)], decode_links(links[0])
                files.append(_sections(*known, language, counts))
        return files, counts

    @property
    def front_matter_keys(self) -> frozenset[str]:
        """The keys that documents have in their front matter."""
        return frozenset().union(*[decode_front_matter(record.front_matter) for record in self.records.values()])

    @property
    def node_total(self) -> int:
        """The number of nodes and records that an index would have."""
        return sum([record.nodes for record in self.records.values()]) + blob_count(
            self.records, len(self.settings.trees)
        )

    def linked(self) -> Iterator[tuple[str, LinkRecord]]:
        """All documents by id, with the links from and to each."""
        for name, tree in self.settings.trees.items():
            links, words = TreeLinks(name, None), field("links", tree.language)
            records = [record for record in self.records.values() if record.tree == name]
            records.sort(key=attrgetter("path"))
            for record in records:
                links.signs.update(file_signs(record))
            for each in links.follow_all({record.path: self._journal.links.pop(record.id) for record in records}):
                for texts, _ in each.incoming().values():
                    found = {term for text in texts for term in analyser(tree.language).analyze(normalize(text))}
                    self._counts[words].update(found)
                yield f"{name}:{each.page.path}", each
            self.trees[name] = tree_info(Path(), tree, dict(+links.signs))

    def rows(self, document_id: str) -> list[Row]:
        """The rows of a document, without links."""
        return self._journal.numbered_nodes(document_id)[1].own

    def counts(self, field: str) -> Mapping[str, int]:
        """How many nodes have each term; only after ``linked``."""
        return self._counts[field]
