"""Where the links of a tree of documents lead: to a document and a section of it, or to nothing.

A link is broken only if its target would have to be in the tree: links to other sites, to files that are no documents
and to folders without documents are not judged.
"""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property, partial
from pathlib import PurePosixPath
from typing import NamedTuple

from quire.links.link_resolution import Addresses, Lookup, Page, Sign, Site, address, internal_link, last_name, page_of
from quire.model.document import Document, Link
from quire.model.substitutions import substitute
from quire.parsing.links import Anchors
from quire.parsing.slugs import github_slug
from quire.read.file_endings import MARKDOWN_EXTENSIONS

_ANY_PAGE = re.compile(r"top\Z|_?fn|:~:|\^|L[0-9]+(?:-L?[0-9]+)?\Z|\Z")
"""Fragments that every page may have: its top, footnotes, text, blocks of wikis, lines."""
_INCLUDE = re.compile(
    r"""\{[{%][<%]?-?[ ]*(?:include|render|embed|snippet|readfile)"""
    r"""|--8<--|<!--[ ]*@?include|^:::[ ]\w+\.|\{(?:include|auto\w+|eval-rst)\}|^import .*\.mdx?["']""",
    re.MULTILINE | re.IGNORECASE,
)
"""Text that comes from another file, with headings that are not in this one."""
_LABEL = re.compile(r"^(?:\([^()\s]+\)=|[ ]*:(?:name|label):[ ]+[^\s<>]+)", re.MULTILINE)
"""A label of MyST. In all documents ``[text](name)`` and ``[text](#name)`` lead to labels, classes and functions."""
_PARTIAL = re.compile(r"(?:\A|/)(?:_(?!index\.)|includes?/|partials/|snippets/)")
"""Files that are parts of other pages; their fragments are those of the page."""
_MIN_LINKED, _MIN_MOUNTED = 8, 3  # 3 missing pages, each linked from 8 documents, are mounted from elsewhere
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


class Target(NamedTuple):
    """Where a link leads. Both ``path`` and ``problem`` are empty if that cannot be known."""

    path: str = ""  # the document
    section: int = 0  # the number of the section in it; 0 for the whole document
    problem: str = ""  # what is missing, if the link is broken
    nearest: str = ""
    """The most similar target that exists: ``path``, ``path#id``, or ``#id`` in the right document; may be empty."""


class LinkTargets:
    """Where the links of a tree's documents lead. ``exists`` tells whether a path in the tree is a file."""

    def __init__(self, documents: Mapping[str, Document], exists: Callable[[str], bool] = lambda _: False) -> None:
        self._documents = documents
        self._exists = exists
        self.links = {path: document.links for path, document in documents.items()}  # the links of each document
        self._pages = {path: page_of(path, document.frontmatter) for path, document in documents.items()}
        self._by_name: dict[str, list[Page]] = defaultdict(list)
        for page in self._pages.values():
            for key in page.keys:
                self._by_name[last_name(key)].append(page)
        self._addresses = Addresses(lambda name: self._by_name.get(name, ()))
        signs: Counter[Sign] = Counter()
        for path, page in self._pages.items():
            links = (internal_link(documents[path], link) for link in self.links[path])
            signs.update(self._addresses.signs(page, filter(None, links)))
        self._addresses.site = Site.of(signs)
        paths = [name for page in self._pages.values() for name in (page.path.casefold(), *page.keys)]
        self._folders = {"", *(str(folder) for path in paths for folder in PurePosixPath(path).parents)}
        self._anchors = cache(lambda path: Anchors(documents[path]))

    def broken(self) -> Iterator[tuple[str, Link, Target]]:
        """Every broken link, with the document that it is in."""
        found = ((path, link, self.resolve(path, link)) for path, links in self.links.items() for link in links)
        return (row for row in found if row[2].problem)

    def resolve(self, path: str, link: Link) -> Target:
        """Where a link in the document ``path`` leads."""
        lookup = self._lookup(path, link)
        if lookup is None:
            return Target()
        if lookup.pages:
            return self._in_pages(lookup.pages, lookup.link.fragment, path)
        if not lookup.link.is_wiki and (self._has_mounts or not self._must_be_here(path, lookup)):
            return Target()
        nearest = self._nearest_page(lookup.keys[0] if lookup.keys else address(lookup.link.page))
        return Target(problem=f"no document {lookup.link.page}", nearest=nearest)

    def fragments(self) -> Iterator[tuple[str, str]]:
        """The document and the fragment of every link that has both."""
        return ((each.pages[0], each.link.fragment) for _, each in self._lookups() if each.pages and each.link.fragment)

    def _lookup(self, path: str, link: Link) -> Lookup | None:
        internal = internal_link(self._documents[path], link)
        if internal is None or (internal.is_wiki and not self._addresses.site.has_wiki_links):
            return None
        return self._addresses.lookup(self._pages[path], internal)

    def _lookups(self) -> Iterator[tuple[str, Lookup]]:
        found = ((path, self._lookup(path, link)) for path, links in self.links.items() for link in links)
        return ((path, lookup) for path, lookup in found if lookup is not None)

    @cached_property
    def _has_labels(self) -> bool:
        return any(_LABEL.search(document.text) for document in self._documents.values())

    @cached_property
    def _has_mounts(self) -> bool:
        """Whether the site has more pages than the tree, as Hugo's mounts make them: many documents link to several."""
        linked: dict[str, set[str]] = defaultdict(set)
        for path, lookup in self._lookups() if self._addresses.site.is_hugo else ():
            if not lookup.pages and self._must_be_here(path, lookup):
                linked[lookup.keys[-1]].add(path)
        return sum(len(paths) >= _MIN_LINKED for paths in linked.values()) >= _MIN_MOUNTED

    def _must_be_here(self, path: str, lookup: Lookup) -> bool:
        """Whether a page that is not in the tree would have to be."""
        if not lookup.keys or lookup.link.is_file:
            return False
        if lookup.link.page.startswith("/"):  # the site may have other pages at its top, and beside the tree
            is_top = "/" not in address(lookup.link.page)
            return not is_top and any("/" in key and posixpath.dirname(key) in self._folders for key in lookup.keys)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), lookup.link.page))
        if file.startswith("..") or self._exists(file):
            return False
        if lookup.link.extension in MARKDOWN_EXTENSIONS:
            return True
        may_be_label = "/" not in lookup.link.page and self._has_labels
        return not may_be_label and any(posixpath.dirname(key) in self._folders for key in lookup.keys)

    def _in_pages(self, pages: Sequence[str], fragment: str, path: str) -> Target:
        """The section with an anchor, in the first page that has it."""
        for page in pages:
            section = self._section(page, fragment)
            if section is not None:
                return Target(page, section)
        page = pages[0]
        if self._may_have(page, fragment) or (page == path and self._has_labels):
            return Target(page)
        anchors = self._documents[page].section_columns.anchors
        close = get_close_matches(fragment.casefold(), anchors, n=1)
        moved = self._pages_by_anchor.get(fragment, [])
        nearest = f"{moved[0]}#{fragment}" if len(moved) == 1 else f"#{close[0]}" if close else page
        return Target(page, 0, f"no section #{fragment}" + (f" in {page}" if page != path else ""), nearest)

    def _section(self, path: str, fragment: str) -> int | None:
        """The number of the section with an anchor; None if there is none."""
        if _ANY_PAGE.match(fragment):
            return 0
        position = self._anchors(path).position(fragment)
        return None if position is None else max(self._documents[path].section_at(position), 0)

    def _may_have(self, path: str, fragment: str) -> bool:
        """Whether a page may have an anchor that cannot be seen in its source: of included or generated headings."""
        document = self._documents[path]
        if len(document.sections) == 1 or _PARTIAL.search(path) or _INCLUDE.search(document.text):
            return True
        headings = self._template_headings(path)
        if headings and (fragment in self._template_anchors or any(map(partial(_may_write, fragment), headings))):
            return True
        folder = posixpath.dirname(path.casefold())
        names = (fragment.casefold(), fragment.casefold().partition("-")[2])
        if folder == address(path) and any(name and self._addresses.page(f"{folder}/{name}") for name in names):
            return True  # the page lists those in its folder
        tabs = re.sub(r"-[0-9]+\Z", "", fragment)
        return any(tabs == name.replace("_", "-") for name in self._anchors(path).positions)

    def _template_headings(self, path: str) -> list[str]:
        """The headings with a shortcode or a variable whose value is not known."""
        document, sections = self._documents[path], self._documents[path].section_columns
        spans = zip(sections.starts[1:], sections.body_starts[1:], strict=True)
        headings = (substitute(document.text[start:end], document.source.substitutions) for start, end in spans)
        return [*filter(_TEMPLATE.search, headings)]

    @cached_property
    def _template_anchors(self) -> set[str]:
        """The anchors of headings that a shortcode writes: several pages with such headings lack the fragment."""
        lacking: dict[str, set[str]] = defaultdict(set)
        for page, fragment in self.fragments():
            if self._section(page, fragment) is None and self._template_headings(page):
                lacking[fragment].add(page)
        return {fragment for fragment, pages in lacking.items() if len(pages) > 1}

    @cached_property
    def _pages_by_anchor(self) -> dict[str, list[str]]:
        pages: dict[str, list[str]] = defaultdict(list)
        for path, document in self._documents.items():
            for anchor in document.section_columns.anchors[1:]:
                pages[anchor].append(path)
        return pages

    def _nearest_page(self, key: str) -> str:
        """A page of the same name in another folder, else one with a similar name."""
        name, pages = last_name(key), self._by_name
        close = [name] if name in pages else get_close_matches(name, pages, n=1, cutoff=0.7)
        same = [page.path for page in pages[close[0]]] if close else [""]
        return max(same, key=lambda path: len(posixpath.commonprefix([path, key])))


def _may_write(fragment: str, heading: str) -> bool:
    """Whether a heading may have this anchor, whatever its variables stand for."""
    words = [re.escape(github_slug(text.strip(" #\t\r\n"))) for text in _TEMPLATE.split(heading)]
    return any(words) and re.fullmatch(r"[\w-]*".join(words), fragment) is not None
