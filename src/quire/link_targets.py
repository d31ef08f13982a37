"""Where the links of a tree of documents lead: to a document and a section of it, or to nothing.

    page.md#id  ../a/  ./b  page.html     relative to the file, or to the page that is published as a folder
    /docs/a/b/                            absolute; the tree may be a part of the site, or the site a part of the tree
    [[page#Heading]]  {{< ref "page" >}}  by file name, from anywhere

Pages also have the addresses in their front matter. A link is broken only if its target would have to be in the tree:
links to other sites, to files that are no documents and to folders without documents are not judged.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from quire.model import Document, Link
from quire.parsing.anchors import all_anchors, known_name
from quire.parsing.slugs import github_slug
from quire.read.source import MARKDOWN_EXTENSIONS

_PAGE_EXTENSIONS = frozenset({*MARKDOWN_EXTENSIONS, ".html", ".htm"})
_INDEX_NAMES = frozenset({"index", "_index", "readme"})
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|@|.*[{}<>$*|]|[A-Z]+(?:_[A-Z]+)+\Z", re.DOTALL)
"""Targets on other sites, aliases of bundlers (``@site/``), templates and placeholders."""
_FILE_EXTENSION = re.compile(r"\.[a-z][a-z0-9]*\Z")
_ORDER = re.compile(r"(?:(?<=/)|\A)[0-9]+[-_.](?=[^/])")
"""The number in a file name that sets the order of pages, and is not in their addresses."""
_ANY_PAGE = re.compile(r"top\Z|_?fn|:~:|\^|L[0-9]+(?:-L?[0-9]+)?\Z|\Z")
"""Fragments that every page may have: its top, footnotes, text, blocks of wikis, lines."""
_INCLUDE = re.compile(
    r"""\{[{%][<%]?-?[ ]*(?:include|render|embed|snippet|readfile)"""
    r"""|--8<--|<!--[ ]*@?include|^:::[ ]\w+\.|\{(?:include|auto\w+|eval-rst)\}|^import .*\.mdx?["']""",
    re.MULTILINE | re.IGNORECASE,
)
"""Text that comes from another file, with headings that are not in this one."""
_LABEL = re.compile(r"^(?:\(([^()\s]+)\)=|[ ]*:(?:name|label):[ ]+([^\s<>]+))", re.MULTILINE)
"""A label of MyST. Links lead to it from every document: ``[text](label)``, ``[text](#label)``."""
_CODE_NAME = re.compile(r".*[A-Z.]")
"""What links of MyST lead to besides labels: classes and functions."""
_PARTIAL = re.compile(r"(?:\A|/)(?:_(?!index\.)|includes?/|partials/|snippets/)")
"""Files that are parts of other pages; their fragments are those of the page."""
_MIN_SHARE = 0.05
"""A prefix is used if it explains so many absolute links, as a share of the most common one."""
_MIN_LINKED, _MIN_MOUNTED = 8, 3
"""So many missing pages, each linked from so many documents, are mounted from elsewhere."""


class Target(NamedTuple):
    """Where a link leads. Both ``path`` and ``problem`` are empty if that cannot be known."""

    path: str = ""
    """The document."""
    section: int = 0
    """The number of the section in it; 0 for the whole document."""
    problem: str = ""
    """What is missing, if the link is broken."""
    nearest: str = ""
    """The most similar target that exists: ``path``, ``path#id``, or ``#id`` in the right document; may be empty."""


class Lookup(NamedTuple):
    """The parts of a target, and the documents that it may mean, the most likely one first."""

    page: str
    fragment: str
    keys: list[str]
    """Where the page would be; empty if that is outside of the tree."""
    pages: list[str]


class Page(NamedTuple):
    """A document, as far as finding it and following its links needs."""

    keys: Sequence[str]
    """Its addresses: that of its path, then others."""
    links: Sequence[tuple[str, bool]]
    """The target of each link, and whether it is a wiki link."""


def page_keys(path: str, frontmatter: Mapping[str, Any]) -> list[str]:
    """The addresses of the page ``path``."""
    return [_key(path), *_other_keys(path, frontmatter)]


class Addresses:
    """The pages of a tree by the addresses that links use."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self._links = [link for page in pages.values() for link in page.links]
        self._bases = {
            path: [base for key in page.keys for base in (key, posixpath.dirname(key))] for path, page in pages.items()
        }
        self.pages = {key: path for path, page in pages.items() for key in page.keys[1:]}
        """The page at each address."""
        self.pages |= {page.keys[0]: path for path, page in pages.items()}
        self.by_name: dict[str, dict[str, None]] = defaultdict(dict)
        """The pages by each end of their addresses."""
        for key, path in self.pages.items():
            for suffix in _suffixes(key):
                self.by_name[suffix][path] = None
        self.is_hugo = any(path.endswith("_index.md") for path in pages)
        """Whether Hugo makes the site."""
        self._is_mdx = any(path.endswith(".mdx") for path in pages)

    def lookup(self, path: str, target: str, is_wiki: bool) -> Lookup | None:
        """The documents that a link in the page ``path`` may lead to; None if it leads elsewhere."""
        if _ELSEWHERE.match(target) or (is_wiki and not self._has_wiki_links):
            return None
        page, fragment = _split(target)
        if is_wiki and not fragment.startswith("^"):  # wiki links have titles, perhaps with those above them
            fragment = github_slug(fragment.rpartition("#")[2])
        if not page:
            return Lookup(page, fragment, [], [path])
        keys = self._keys(path, page)
        pages = _unique(self.pages[key] for key in keys if key in self.pages)
        if not pages and (is_wiki or (self.is_hugo and "/" not in page)):
            pages = list(self.by_name.get(_key(page)) or self.by_name.get(_key(page.replace(" ", "-"))) or ())
            pages = pages if is_wiki or len(pages) == 1 else []
        return Lookup(page, fragment, keys, pages)

    def _keys(self, path: str, page: str) -> list[str]:
        """Where a page may be; empty if that is outside of the tree."""
        if page.startswith("/"):
            key = _key(page)
            return [_joined(own, key[len(site) :]) for site, own in self._prefixes if f"{key}/".startswith(site)]
        bases = [posixpath.dirname(path), *self._bases[path]]
        if posixpath.splitext(page)[1].lower() in MARKDOWN_EXTENSIONS:
            is_from_root = self._is_mdx or (self.is_hugo and "/" in page)
            bases = [bases[0], ""] if is_from_root else bases[:1]
        joined = [posixpath.normpath(posixpath.join(base, page)) for base in bases]
        return _unique(_key(each) for each in joined if not each.startswith(".."))

    @cached_property
    def _prefixes(self) -> list[tuple[str, str]]:
        """Prefixes of absolute links, each with the folder of the tree that it stands for; the most common first."""
        votes = Counter({("", ""): 1})
        for target in (target for target, _ in self._links if target.startswith("/")):
            key = _key(_split(target)[0])
            rests = [rest for rest in _suffixes(key) if rest in self.pages]
            if key in self.pages:
                votes["", ""] += 1
            elif rests:
                votes.update((key[: -len(rest)], "") for rest in rests)
            else:
                votes.update(
                    ("", own[: -len(key)]) for own in map(_key, self.by_name.get(key, ())) if own.endswith(f"/{key}")
                )
        most = votes.most_common()
        return [prefixes for prefixes, count in most if count >= most[0][1] * _MIN_SHARE or prefixes == ("", "")]

    @cached_property
    def _has_wiki_links(self) -> bool:
        """Whether ``[[a]]`` is a link here: at least half of them lead somewhere."""
        names = [_split(target)[0] for target, is_wiki in self._links if is_wiki]
        return 2 * sum(not name or _key(name) in self.by_name for name in names) >= len(names)


class LinkTargets:
    """Where the links of a tree's documents lead. ``exists`` tells whether a path in the tree is a file."""

    def __init__(self, documents: Mapping[str, Document], exists: Callable[[str], bool] = lambda _: False) -> None:
        self._documents = documents
        self._exists = exists
        self.links = {path: document.links for path, document in documents.items()}
        """The links of each document."""
        self._addresses = Addresses(
            {
                path: Page(
                    page_keys(path, each.frontmatter), [(link.target, is_wiki(each, link)) for link in self.links[path]]
                )
                for path, each in documents.items()
            }
        )
        self._names: dict[str, list[str]] = defaultdict(list)
        for key in self._addresses.pages:
            self._names[posixpath.dirname(key)].append(posixpath.basename(key))
        self._folders = {"", *(str(folder) for path in documents for folder in PurePosixPath(path.casefold()).parents)}
        self._anchors = cache(lambda path: all_anchors(documents[path]))

    def broken(self) -> Iterator[tuple[str, Link, Target]]:
        """Every broken link, with the document that it is in."""
        for path, links in self.links.items():
            for link in links:
                target = self.resolve(path, link)
                if target.problem:
                    yield path, link, target

    def resolve(self, path: str, link: Link) -> Target:
        """Where a link in the document ``path`` leads."""
        found = self._lookup(path, link)
        if found is None:
            return Target()
        if found.pages:
            return self._in_pages(found.pages, found.fragment, path)
        if is_wiki(self._documents[path], link) or (
            self._must_be_here(path, found) and not (self._has_mounts and self._may_be_mounted(found.keys))
        ):
            nearest = self._nearest_page(found.keys[0] if found.keys else _key(found.page))
            return Target(problem=f"no document {found.page}", nearest=nearest)
        return Target()

    def fragments(self) -> Iterator[tuple[str, str]]:
        """The document and the fragment of every link that has both."""
        for _, found in self._lookups():
            if found.pages and found.fragment:
                yield found.pages[0], found.fragment

    def _lookup(self, path: str, link: Link) -> Lookup | None:
        found = self._addresses.lookup(path, link.target, is_wiki(self._documents[path], link))
        return self._by_label(path, found) if found and self._labels else found

    def _by_label(self, path: str, found: Lookup) -> Lookup | None:
        """The target of a link where labels lead across documents; None for a name in code."""
        page, fragment, _, pages = found
        if not page:
            labelled = self._labels.get(fragment) if self._section(path, fragment) is None else path
            is_code = not labelled and _CODE_NAME.match(fragment)
            return None if is_code else found._replace(pages=[labelled or path])
        if page in self._labels:
            return Lookup(page, page, [], [self._labels[page]])
        if not pages and "/" not in page and _key(page) == page.casefold():
            return found._replace(keys=[])  # a name in code, or a label in a document of another syntax
        return found

    def _lookups(self) -> Iterator[tuple[str, Lookup]]:
        for path, links in self.links.items():
            for link in links:
                found = self._lookup(path, link)
                if found is not None:
                    yield path, found

    @cached_property
    def _labels(self) -> dict[str, str]:
        """The documents that have the labels of MyST."""
        return {
            label[1] or label[2]: path
            for path, document in self._documents.items()
            for label in _LABEL.finditer(document.text)
        }

    @cached_property
    def _has_mounts(self) -> bool:
        """Whether the site has more pages than the tree, as Hugo's mounts make them: many documents link to several."""
        linked: dict[str, set[str]] = defaultdict(set)
        for path, found in self._lookups() if self._addresses.is_hugo else ():
            if not found.pages and self._must_be_here(path, found):
                linked[found.keys[-1]].add(path)
        return sum(len(paths) >= _MIN_LINKED for paths in linked.values()) >= _MIN_MOUNTED

    def _may_be_mounted(self, keys: list[str]) -> bool:
        """Whether a missing page is not just misspelled: no page beside it has a very similar name."""
        places = [(posixpath.basename(key), self._names.get(posixpath.dirname(key), ())) for key in keys]
        return not any(get_close_matches(name, beside, n=1, cutoff=0.85) for name, beside in places)

    def _must_be_here(self, path: str, found: Lookup) -> bool:
        """Whether a page that is not in the tree would have to be."""
        extension = posixpath.splitext(found.page)[1].lower()
        if not found.keys or (extension not in _PAGE_EXTENSIONS and _FILE_EXTENSION.match(extension)):
            return False
        if found.page.startswith("/"):  # the site may have other pages at its top, and beside the tree
            is_top = "/" not in _key(found.page)
            return not is_top and any("/" in key and posixpath.dirname(key) in self._folders for key in found.keys)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), found.page))
        if file.startswith("..") or self._exists(file):
            return False
        return extension in MARKDOWN_EXTENSIONS or any(posixpath.dirname(key) in self._folders for key in found.keys)

    def _in_pages(self, pages: list[str], fragment: str, path: str) -> Target:
        """The section with an anchor, in the first page that has it."""
        for page in pages:
            section = self._section(page, fragment)
            if section is not None:
                return Target(page, section)
        page = pages[0]
        if self._may_have(page, fragment):
            return Target(page)
        close = get_close_matches(
            fragment.casefold(), [section.anchor for section in self._documents[page].sections], n=1
        )
        moved = self._pages_by_anchor.get(fragment, [])
        nearest = f"{moved[0]}#{fragment}" if len(moved) == 1 else f"#{close[0]}" if close else page
        return Target(page, 0, f"no section #{fragment}" + (f" in {page}" if page != path else ""), nearest)

    def _section(self, path: str, fragment: str) -> int | None:
        """The number of the section with an anchor; None if there is none."""
        if _ANY_PAGE.match(fragment):
            return 0
        document = self._documents[path]
        for section in document.sections[1:]:
            if fragment in (section.anchor, section.slug):
                return section.number
        known = self._anchors(path)
        name = known_name(known, fragment)
        return None if name is None else max(document.section_at(known[name]), 0)

    def _may_have(self, path: str, fragment: str) -> bool:
        """Whether a page may have an anchor that cannot be seen in its source."""
        document = self._documents[path]
        if len(document.sections) == 1 or _PARTIAL.search(path) or _INCLUDE.search(document.text):
            return True
        if _has_template_headings(document) and fragment in self._template_anchors:
            return True
        folder = posixpath.dirname(path.casefold())
        names = (fragment.casefold(), fragment.casefold().partition("-")[2])
        if folder == _key(path) and any(name and _joined(folder, name) in self._addresses.pages for name in names):
            return True  # the page lists those in its folder
        tabs = re.sub(r"-[0-9]+\Z", "", fragment)
        return any(tabs == name.replace("_", "-") for name in self._anchors(path))

    @cached_property
    def _template_anchors(self) -> set[str]:
        """The anchors of headings that a shortcode writes: several pages with such headings lack the fragment."""
        lacking: dict[str, set[str]] = defaultdict(set)
        for _, (_, fragment, _, pages) in self._lookups():
            if (
                pages
                and self._section(pages[0], fragment) is None
                and _has_template_headings(self._documents[pages[0]])
            ):
                lacking[fragment].add(pages[0])
        return {fragment for fragment, pages in lacking.items() if len(pages) > 1}

    @cached_property
    def _pages_by_anchor(self) -> dict[str, list[str]]:
        pages: dict[str, list[str]] = defaultdict(list)
        for path, document in self._documents.items():
            for section in document.sections[1:]:
                pages[section.anchor].append(path)
        return pages

    def _nearest_page(self, key: str) -> str:
        """A page of the same name in another folder, else one with a similar name."""
        name = key.rpartition("/")[2]
        close = (
            [name]
            if name in self._addresses.by_name
            else get_close_matches(name, self._addresses.by_name, n=1, cutoff=0.7)
        )
        same = self._addresses.by_name[close[0]] if close else [""]
        return max(same, key=lambda path: len(posixpath.commonprefix([path, key])))


def is_wiki(document: Document, link: Link) -> bool:
    """Whether a link is written as ``[[a]]``."""
    return document.text.startswith("[[", link.start)


def _key(path: str) -> str:
    """A path or an address without what may differ: slashes around it, extension, ``index``, case."""
    path = posixpath.normpath(f"/{path}").strip("/").casefold()
    stem, extension = posixpath.splitext(path)
    path = stem if extension in _PAGE_EXTENSIONS else path
    folder, _, name = path.rpartition("/")
    return folder if name in _INDEX_NAMES else path


def _other_keys(path: str, frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a page by its front matter, and by its path without numbers."""
    for name in ("url", "permalink", "slug", "id", "aliases", "redirect_from"):
        value = frontmatter.get(name)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each and ":" not in each:
                yield _key(posixpath.join("" if name == "url" else posixpath.dirname(path), each))
    if _ORDER.search(path):
        yield _key(_ORDER.sub("", path))


def _has_template_headings(document: Document) -> bool:
    return any("{{" in document.text[section.start : section.body_start] for section in document.sections[1:])


def _split(target: str) -> tuple[str, str]:
    """The page and the fragment of a target."""
    page, _, fragment = target.partition("#")
    return unquote(page.partition("?")[0]).strip(), unquote(fragment)


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _joined(prefix: str, rest: str) -> str:
    return f"{prefix.strip('/')}/{rest.strip('/')}".strip("/")


def _suffixes(key: str) -> Iterator[str]:
    """The key, and the rest of it behind its first, second … folder."""
    while key:
        yield key
        key = key.partition("/")[2]
