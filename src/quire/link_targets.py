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
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

import msgspec

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
_RARE = 4
"""A prefix is used if its count has less than so many binary digits less than that of the most common one."""
_MAX_COMPARED = 100
"""With how many pages of the same name a link is compared to find prefixes."""
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


class Page(NamedTuple):
    """A document, as far as finding it needs."""

    path: str
    keys: Sequence[str]
    """Its addresses: that of its path, then others."""


class InternalLink(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link that may lead to a document of the tree."""

    text: str
    page: str  # its target without the fragment; empty for the document that has the link
    fragment: str = ""
    is_wiki: bool = False  # written as ``[[a]]``


class Lookup(NamedTuple):
    """The documents that a link may mean."""

    page: str
    fragment: str
    keys: Sequence[str]
    """Where the page would be; empty if that is outside of the tree."""
    pages: Sequence[str]
    """The documents, the most likely one first."""


Sign: TypeAlias = tuple[str, str]
"""What a page or a link shows about the site: a prefix of absolute links and the folder that it stands for, both with
slashes around them; or a kind of thing and what it is like."""
_HUGO, _MDX = ("page", "_index.md"), ("page", ".mdx")
_WIKI_FOUND, _WIKI_LOST = ("wiki", "found"), ("wiki", "lost")


class Site(NamedTuple):
    """What the signs of a tree say about links."""

    prefixes: tuple[Sign, ...] = (("/", "/"),)
    """The prefixes of absolute links, the most common first."""
    is_hugo: bool = False
    """Whether Hugo makes the site."""
    is_mdx: bool = False
    has_wiki_links: bool = True
    """Whether ``[[a]]`` is a link here: at least half of them lead somewhere."""

    @classmethod
    def of(cls, signs: Mapping[Sign, int]) -> Site:
        """The site of a tree with so many signs of each kind.

        Counts are compared by their magnitude, so that an edit hardly ever changes where links of other pages lead.
        """
        sizes = {sign: count.bit_length() for sign, count in signs.items() if sign[0].startswith("/") and count > 0}
        sizes["/", "/"] = max(sizes.get(("/", "/"), 0), 1)
        least = max(sizes.values()) - _RARE
        common = [sign for sign in sizes if sizes[sign] > least or sign == ("/", "/")]
        return cls(
            tuple(sorted(common, key=lambda sign: (-sizes[sign], sign))),
            signs.get(_HUGO, 0) > 0,
            signs.get(_MDX, 0) > 0,
            signs.get(_WIKI_FOUND, 0) >= signs.get(_WIKI_LOST, 0),
        )


class Addresses:
    """Finds the pages of a tree by the addresses that links use.

    ``pages_named`` returns the pages that have an address with this last name.
    """

    def __init__(self, pages_named: Callable[[str], Iterable[Page]]) -> None:
        self.site = Site()
        """Set it before ``lookup``; ``signs`` does not need it."""
        self._pages_named = pages_named
        self._by_name: dict[str, dict[str, str]] = {}  # the pages by the last name of an address, and by the address
        self._known_prefixes: dict[str, list[Sign]] = {}  # by the address of a link

    def page(self, key: str) -> str | None:
        """The page at an address."""
        return self._named(last_name(key)).get(key)

    def lookup(self, page: Page, link: InternalLink) -> Lookup:
        """The documents that a link in ``page`` may lead to."""
        target = link.page
        if not target:
            return Lookup(target, link.fragment, (), [page.path])
        is_absolute = target.startswith("/")
        keys = self._absolute_keys(target) if is_absolute else self._relative_keys(page, target)
        pages = _unique(path for key in keys if (path := self.page(key)) is not None)
        if not pages and (link.is_wiki or (self.site.is_hugo and "/" not in target)):
            pages = self._pages_by_name(target)
            pages = pages if link.is_wiki or len(pages) == 1 else []
        return Lookup(target, link.fragment, keys, pages)

    def signs(self, page: Page, links: Iterable[InternalLink]) -> Counter[Sign]:
        """What a page and its links show about the site."""
        found = Counter([sign for sign in (_HUGO, _MDX) if page.path.endswith(sign[1])])
        for link in links:
            if link.is_wiki:
                found[_WIKI_FOUND if not link.page or self._pages_by_name(link.page) else _WIKI_LOST] += 1
            elif link.page.startswith("/"):
                key = _key(link.page)
                if key not in self._known_prefixes:
                    self._known_prefixes[key] = self._prefixes(key)
                found.update(self._known_prefixes[key])
        return found

    def _named(self, name: str) -> dict[str, str]:
        if name not in self._by_name:
            pages = sorted(self._pages_named(name))
            found = {key: page.path for page in pages for key in page.keys[1:]}
            found |= {page.keys[0]: page.path for page in pages}
            self._by_name[name] = {key: path for key, path in found.items() if last_name(key) == name}
        return self._by_name[name]

    def _pages_by_name(self, target: str) -> list[str]:
        """The pages with an address that ends with a target."""
        ends = [(f"/{key}", self._named(last_name(key))) for key in keys_by_name(target) if key]
        found = [[path for key, path in named.items() if f"/{key}".endswith(end)] for end, named in ends]
        return _unique(next(filter(None, found), []))

    def _absolute_keys(self, target: str) -> list[str]:
        key = f"/{_key(target)}/"
        return [_joined(own, key[len(site) :]) for site, own in self.site.prefixes if key.startswith(site)]

    def _relative_keys(self, page: Page, target: str) -> list[str]:
        """Where a page may be; empty if that is outside of the tree."""
        bases = [posixpath.dirname(page.path)]
        if _extension(target) not in MARKDOWN_EXTENSIONS:
            bases += [base for key in page.keys for base in (key, posixpath.dirname(key))]
        elif self.site.is_mdx or (self.site.is_hugo and "/" in target):
            bases.append("")
        joined = [posixpath.normpath(posixpath.join(base, target)) for base in dict.fromkeys(bases)]
        return _unique(_key(each) for each in joined if not each.startswith(".."))

    def _prefixes(self, key: str) -> list[Sign]:
        """What is before the end that an absolute link shares with the most similar addresses of the same name.

        The end must be all of one of them, or two names.
        """
        found: dict[tuple[int, int], list[Sign]] = {}
        names = key.split("/")
        for other in islice(self._named(names[-1]) if key else (), _MAX_COMPARED):
            others = other.split("/")
            shared = len(posixpath.commonprefix([names[::-1], others[::-1]]))
            if shared >= min(2, len(names), len(others)):
                site, own = (f"/{'/'.join(each[:-shared])}/".replace("//", "/") for each in (names, others))
                found.setdefault((shared, -len(others)), []).append((site, own))
        return found[max(found)] if found else []


class LinkTargets:
    """Where the links of a tree's documents lead. ``exists`` tells whether a path in the tree is a file."""

    def __init__(self, documents: Mapping[str, Document], exists: Callable[[str], bool] = lambda _: False) -> None:
        self._documents = documents
        self._exists = exists
        self.links = {path: document.links for path, document in documents.items()}
        """The links of each document."""
        self._pages = {path: page_of(path, each.frontmatter) for path, each in documents.items()}
        self._by_name: dict[str, list[Page]] = defaultdict(list)
        self._beside: dict[str, list[str]] = defaultdict(list)  # the last names of addresses, by what is before them
        for page in self._pages.values():
            for key in page.keys:
                self._by_name[last_name(key)].append(page)
                self._beside[posixpath.dirname(key)].append(last_name(key))
        self._addresses = Addresses(lambda name: self._by_name.get(name, ()))
        signs: Counter[Sign] = Counter()
        for path, page in self._pages.items():
            links = (internal_link(documents[path], link) for link in self.links[path])
            signs.update(self._addresses.signs(page, filter(None, links)))
        self._addresses.site = Site.of(signs)
        paths = [each for page in self._pages.values() for each in (page.path.casefold(), *page.keys)]
        self._folders = {"", *(str(folder) for path in paths for folder in PurePosixPath(path).parents)}
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
        if self._documents[path].text.startswith("[[", link.start) or (
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
        internal = internal_link(self._documents[path], link)
        if internal is None or (internal.is_wiki and not self._addresses.site.has_wiki_links):
            return None
        found = self._addresses.lookup(self._pages[path], internal)
        return self._by_label(path, found) if self._labels else found

    def _by_label(self, path: str, found: Lookup) -> Lookup | None:
        """The target of a link where labels lead across documents; None for a name in code."""
        page, fragment, _, pages = found
        if not page:
            labelled = self._labels.get(fragment) if self._section(path, fragment) is None else path
            is_code = not labelled and _CODE_NAME.match(fragment)
            return None if is_code else found._replace(pages=[labelled or path])
        if page in self._labels:
            return Lookup(page, page, (), [self._labels[page]])
        if not pages and "/" not in page and _key(page) == page.casefold():
            return found._replace(keys=())  # a name in code, or a label in a document of another syntax
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
        for path, found in self._lookups() if self._addresses.site.is_hugo else ():
            if not found.pages and self._must_be_here(path, found):
                linked[found.keys[-1]].add(path)
        return sum(len(paths) >= _MIN_LINKED for paths in linked.values()) >= _MIN_MOUNTED

    def _may_be_mounted(self, keys: Sequence[str]) -> bool:
        """Whether a missing page is not just misspelled: no page beside it has a very similar name."""
        places = [(last_name(key), self._beside.get(posixpath.dirname(key), ())) for key in keys]
        return not any(get_close_matches(name, beside, n=1, cutoff=0.85) for name, beside in places)

    def _must_be_here(self, path: str, found: Lookup) -> bool:
        """Whether a page that is not in the tree would have to be."""
        if not found.keys or is_file(found.page):
            return False
        if found.page.startswith("/"):  # the site may have other pages at its top, and beside the tree
            is_top = "/" not in _key(found.page)
            return not is_top and any("/" in key and posixpath.dirname(key) in self._folders for key in found.keys)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), found.page))
        if file.startswith("..") or self._exists(file):
            return False
        is_markdown = _extension(found.page) in MARKDOWN_EXTENSIONS
        return is_markdown or any(posixpath.dirname(key) in self._folders for key in found.keys)

    def _in_pages(self, pages: Sequence[str], fragment: str, path: str) -> Target:
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
        if folder == _key(path) and any(name and self._addresses.page(_joined(folder, name)) for name in names):
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
        name, known = last_name(key), self._by_name
        close = [name] if name in known else get_close_matches(name, known, n=1, cutoff=0.7)
        same = [page.path for page in known[close[0]]] if close else [""]
        return max(same, key=lambda path: len(posixpath.commonprefix([path, key])))


def internal_link(document: Document, link: Link) -> InternalLink | None:
    """A link of a document in its parts; None if it leads elsewhere."""
    if _ELSEWHERE.match(link.target):
        return None
    page, _, fragment = link.target.partition("#")
    page, fragment = unquote(page.partition("?")[0]).strip(), unquote(fragment)
    is_wiki = document.text.startswith("[[", link.start)
    if is_wiki and not fragment.startswith("^"):  # wiki links have titles, perhaps with those above them
        fragment = github_slug(fragment.rpartition("#")[2])
    return InternalLink(" ".join(link.text.split()), page, fragment, is_wiki)


def page_of(path: str, frontmatter: Mapping[str, Any]) -> Page:
    """A page with its addresses."""
    return Page(path, _unique((_key(path), *_other_keys(path, frontmatter))))


def is_file(target: str) -> bool:
    """Whether a target looks like a file that is no document."""
    return _FILE_EXTENSION.match(_extension(target)) is not None and _extension(target) not in _PAGE_EXTENSIONS


def _extension(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def last_name(key: str) -> str:
    """The last name in an address."""
    return key.rpartition("/")[2]


@lru_cache(maxsize=16_384)
def _key(path: str) -> str:
    """A path or an address without what may differ: slashes around it, extension, ``index``, case."""
    path = posixpath.normpath(f"/{path}").strip("/").casefold()
    stem, extension = posixpath.splitext(path)
    path = stem if extension in _PAGE_EXTENSIONS else path
    folder, _, name = path.rpartition("/")
    return folder if name in _INDEX_NAMES else path


def keys_by_name(target: str) -> list[str]:
    """The keys of a page that is named without its folders."""
    return _unique((_key(target), _key(target.replace(" ", "-"))))


def _other_keys(path: str, frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a page by its front matter, and by its path without numbers."""
    for name in ("url", "permalink", "slug", "id", "aliases", "redirect_from"):
        value = frontmatter.get(name)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each and ":" not in each:
                yield _key(posixpath.join(posixpath.dirname(path), each))
                if "/" in each or name == "url":  # from the root of the site
                    yield _key(each)
    if _ORDER.search(path):
        yield _key(_ORDER.sub("", path))


def _has_template_headings(document: Document) -> bool:
    return any("{{" in document.text[section.start : section.body_start] for section in document.sections[1:])


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _joined(prefix: str, rest: str) -> str:
    return f"{prefix.strip('/')}/{rest.strip('/')}".strip("/")
