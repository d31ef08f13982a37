"""Where the links of a tree of documents lead: to a document and a section of it, or to nothing.

    page.md#id  ../a/  ./b  page.html     relative to the file, or to the page that is published as a folder
    /docs/a/b/                            absolute; the site may have a prefix that the tree has not, or the other way round
    [[page#Heading]]  {{< ref "page" >}}  by file name, from anywhere

Pages also have the addresses in their front matter. A link is broken only if its target would have to be in the tree:
links to other sites, to files that are no documents and to folders without documents are not judged.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

from quire.model import Document, Link
from quire.parsing.events import opened, plain_text
from quire.parsing.heading_ids import split_id
from quire.parsing.links import inline_events
from quire.parsing.slugs import RULES, anchors, github_slug
from quire.read.source import MARKDOWN_EXTENSIONS

_PAGE_EXTENSIONS = frozenset({*MARKDOWN_EXTENSIONS, ".html", ".htm"})
_INDEX_NAMES = frozenset({"index", "_index", "readme"})
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|@|.*[{}<>$*|]", re.IGNORECASE | re.DOTALL)
"""Targets on other sites, aliases of bundlers (``@site/``) and templates."""
_FILE_EXTENSION = re.compile(r"\.[a-z][a-z0-9]*\Z", re.IGNORECASE)
_ORDER = re.compile(r"(?:(?<=/)|\A)[0-9]+[-_.](?=[^/])")
"""The number in a file name that sets the order of pages, and is not in their addresses."""
_OWN_ANCHOR = re.compile(r"top\Z|fn|:~:|L[0-9]+(?:-L?[0-9]+)?\Z|\Z")
"""Fragments that every page has, and those of footnotes."""
_ID = re.compile(
    r"""(?<![\w-])(?:id|name)[ ]*=[ ]*["']?([^\s"'<>{}]+)|\{:?[ ]*[^{}\n"]*?#([^\s{}#"]+)[^{}\n]*\}|^\(([^()\s]+)\)=""",
    re.MULTILINE,
)
"""An id in HTML, in a list of attributes, or above a block (MyST)."""
_INCLUDE = re.compile(
    r"""\{[{%][<%]?-?[ ]*(?:include|render|embed|snippet|readfile)|--8<--|<!--[ ]*@?include|^import .*\.mdx?["']""",
    re.MULTILINE | re.IGNORECASE,
)
"""Text that comes from another file, with headings that are not in this one."""
_MIN_SHARE = 0.05
"""A prefix is used if it explains so many absolute links, as a share of the most common one."""


class Target(NamedTuple):
    """Where a link leads. Both ``path`` and ``problem`` are empty if that cannot be known."""

    path: str = ""
    """The document."""
    section: int = 0
    """The number of the section in it; 0 for the whole document."""
    problem: str = ""
    """What is missing, if the link is broken."""
    nearest: str = ""
    """The most similar target that exists, if there is one: a path, or ``#id`` in the right document."""


class LinkTargets:
    """The pages of a tree by the addresses that links may use. ``exists`` tells whether there is such a file beside them."""

    def __init__(self, documents: Mapping[str, Document], exists: Callable[[str], bool] = lambda _: False) -> None:
        self._documents = documents
        self._exists = exists
        self.links = {path: document.links for path, document in documents.items()}
        """The links of each document."""
        self._pages: dict[str, str] = {}
        self._bases: dict[str, list[str]] = {}
        for path in documents:
            self._pages.setdefault(_key(path), path)
        for path, document in documents.items():
            others = list(_other_keys(path, document.frontmatter))
            for key in others:
                self._pages.setdefault(key, path)
            self._bases[path] = _unique(base for key in (_key(path), *others) for base in (key, posixpath.dirname(key)))
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for key, path in self._pages.items():
            for suffix in _suffixes(key):
                self._by_name[suffix].append(path)
        self._folders = {""}.union(*(_ancestors(path.casefold()) for path in documents))
        self._anchors: dict[str, tuple[dict[str, int], dict[str, int]]] = {}

    def broken(self) -> Iterator[tuple[str, Link, Target]]:
        """Every broken link, with the document that it is in."""
        for path, links in self.links.items():
            for link in links:
                target = self.resolve(path, link)
                if target.problem:
                    yield path, link, target

    def resolve(self, path: str, link: Link) -> Target:
        """Where a link in the document ``path`` leads."""
        is_wiki = self._documents[path].text.startswith("[[", link.start)
        if _ELSEWHERE.match(link.target) or (is_wiki and not self._has_wiki_links):
            return Target()
        page, _, fragment = link.target.partition("#")
        page = unquote(page.partition("?")[0]).strip()
        fragment = unquote(fragment)
        if not page:
            return self._in_pages([path], fragment, path) if fragment else Target(path)
        by_name = is_wiki or "{{" in self._documents[path].text[link.start : link.end]
        keys = self._keys(path, page)
        pages = _unique(self._pages[key] for key in keys if key in self._pages)
        if by_name and not pages:
            pages = self._by_name.get(_key(page)) or self._by_name.get(_key(page.replace(" ", "-"))) or []
        if pages:
            return self._in_pages(pages, fragment, path)
        if is_wiki or self._must_be_here(path, page, keys):
            return Target(problem=f"no document {page}", nearest=self._nearest_page(keys[0] if keys else _key(page)))
        return Target()

    def _keys(self, path: str, page: str) -> list[str]:
        """The keys that a target may mean; empty for one outside of the tree."""
        if page.startswith("/"):
            key = _key(page)
            return [prefixed(own, key[len(site) :].strip("/")) for site, own in self._prefixes if _is_below(key, site)]
        folder = posixpath.dirname(path)
        bases = [folder] if posixpath.splitext(page)[1].lower() in MARKDOWN_EXTENSIONS else [folder, *self._bases[path]]
        joined = [posixpath.normpath(posixpath.join(base, page)) for base in bases]
        return _unique(_key(each) for each in joined if not each.startswith(".."))

    @cached_property
    def _prefixes(self) -> list[tuple[str, str]]:
        """Prefixes of absolute links, each with the folder of the tree that it stands for; the most common ones first."""
        votes: Counter[tuple[str, str]] = Counter()
        for links in self.links.values():
            for target in {link.target for link in links if link.target.startswith("/")}:
                key = _key(unquote(re.split("[#?]", target)[0]))
                if key in self._pages:
                    votes["", ""] += 1
                    continue
                for rest in list(_suffixes(key))[1:]:
                    if rest in self._pages:
                        votes[key[: -len(rest)].strip("/"), ""] += 1
                for path in self._by_name.get(key, ()):
                    own = _key(path)
                    if own.endswith(f"/{key}"):
                        votes["", own[: -len(key) - 1]] += 1
        most = max(votes.values(), default=0)
        found = [prefixes for prefixes, count in votes.most_common() if count >= most * _MIN_SHARE]
        return found if ("", "") in found else [*found, ("", "")]

    @cached_property
    def _has_wiki_links(self) -> bool:
        """Whether ``[[a]]`` is a link here: at least half of them lead somewhere."""
        names = [
            link.target.partition("#")[0]
            for path, links in self.links.items()
            for link in links
            if self._documents[path].text.startswith("[[", link.start)
        ]
        return 2 * sum(not name or _key(name) in self._by_name for name in names) >= len(names)

    def _must_be_here(self, path: str, page: str, keys: list[str]) -> bool:
        """Whether a page that is not in the tree would have to be."""
        extension = posixpath.splitext(page)[1].lower()
        if not keys or (extension not in _PAGE_EXTENSIONS and _FILE_EXTENSION.match(extension)):
            return False
        if not page.startswith("/"):
            if posixpath.normpath(posixpath.join(posixpath.dirname(path), page)).startswith(".."):
                return False
            if self._exists(posixpath.join(posixpath.dirname(path), page)):
                return False
            if extension in MARKDOWN_EXTENSIONS:
                return True
        return any(posixpath.dirname(key) in self._folders for key in keys)

    def _in_pages(self, pages: list[str], fragment: str, path: str) -> Target:
        """The section of the first page that has it."""
        for page in pages:
            section = self._section(page, fragment)
            if section is not None:
                return Target(page, section)
        if _INCLUDE.search(self._documents[pages[0]].text):
            return Target(pages[0])
        close = get_close_matches(fragment, self._anchors[pages[0]][0], n=1)
        missing = f"no section #{fragment}" + (f" in {pages[0]}" if pages[0] != path else "")
        return Target(pages[0], problem=missing, nearest=f"#{close[0]}" if close else "")

    def _section(self, path: str, fragment: str) -> int | None:
        """The number of the section with an anchor; None if there is none."""
        if _OWN_ANCHOR.match(fragment):
            return 0
        document = self._documents[path]
        if path not in self._anchors:
            self._anchors[path] = {each.anchor: each.number for each in document.sections[1:]}, {}
        own, others = self._anchors[path]
        if fragment in own:
            return own[fragment]
        if not others:
            others.update(_other_anchors(document))
        wiki = github_slug(fragment.rpartition("#")[2])
        return next((others[each] for each in (fragment, fragment.removeprefix("user-content-"), wiki) if each in others), None)

    def _nearest_page(self, key: str) -> str:
        """A page of the same name in another folder, else one with a similar name."""
        folder, _, name = key.rpartition("/")
        same = self._by_name.get(name, [])
        if same:
            return max(same, key=lambda path: len(posixpath.commonprefix([path, key])))
        names = {_key(path).rpartition("/")[2]: path for path in self._pages.values()}
        beside = {own: path for own, path in names.items() if posixpath.dirname(_key(path)) == folder}
        for known in (beside, names):
            close = get_close_matches(name, known, n=1, cutoff=0.7)
            if close:
                return known[close[0]]
        return ""


def _key(path: str) -> str:
    """A path or an address without what may differ: slashes around it, extension, ``index``, case."""
    path = posixpath.normpath(f"/{path}").strip("/").casefold()
    stem, extension = posixpath.splitext(path)
    path = stem if extension in _PAGE_EXTENSIONS else path
    folder, _, name = path.rpartition("/")
    return folder if name in _INDEX_NAMES else path


def _other_keys(path: str, frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a page by its front matter, and by its path without numbers."""
    folder = posixpath.dirname(path)
    for name in ("url", "permalink", "slug", "id", "aliases", "redirect_from"):
        value = frontmatter.get(name)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each and ":" not in each:
                yield _key(posixpath.join("" if name == "url" else folder, each))
    if _ORDER.search(path):
        yield _key(_ORDER.sub("", path))


def _other_anchors(document: Document) -> dict[str, int]:
    """The anchors of a document by every rule, those of headings inside other blocks, and ids in HTML."""
    found: dict[str, int] = {}
    headings = document.sections[1:]
    ids = [block.id for block in document.blocks if block.kind == "heading"]
    for section in headings:
        found |= {section.slug: section.number, section.made_anchor: section.number}
    for rule in RULES:
        names = anchors(rule, [section.title for section in headings], ids)
        for name, section in zip(names, headings, strict=True):
            found.setdefault(name, section.number)
    for match in _ID.finditer(document.text):
        found.setdefault(match[1] or match[2] or match[3], max(document.section_at(match.start()), 0))
    data, events = inline_events(document)
    nested = [
        (split_id(plain_text(events)), len(data[: place["start"]].decode()))
        for event, place in events
        if opened(event)[0] == "Heading"
    ]
    for rule in RULES:
        names = anchors(rule, [each.content for each, _ in nested], [each.id for each, _ in nested])
        for name, (_, start) in zip(names, nested, strict=True):
            found.setdefault(name, max(document.section_at(start + document.source.markdown_start), 0))
    return found


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def prefixed(prefix: str, rest: str) -> str:
    return f"{prefix}/{rest}".strip("/")


def _is_below(key: str, prefix: str) -> bool:
    return not prefix or key == prefix or key.startswith(f"{prefix}/")


def _suffixes(key: str) -> Iterator[str]:
    """The key, and what is left without its first, second … folder."""
    while key:
        yield key
        key = key.partition("/")[2]


def _ancestors(path: str) -> Iterator[str]:
    """The folders that a path is in."""
    while path := posixpath.dirname(path):
        yield path
