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
from quire.parsing.slugs import RULES, anchors, github_slug, unicode_slug
from quire.read.source import MARKDOWN_EXTENSIONS

_PAGE_EXTENSIONS = frozenset({*MARKDOWN_EXTENSIONS, ".html", ".htm"})
_INDEX_NAMES = frozenset({"index", "_index", "readme"})
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|@|.*[{}<>$*|]|[A-Z]+(?:_[A-Z]+)+\Z", re.DOTALL)
"""Targets on other sites, aliases of bundlers (``@site/``), templates and placeholders."""
_FILE_EXTENSION = re.compile(r"\.[a-z][a-z0-9]*\Z", re.IGNORECASE)
_ORDER = re.compile(r"(?:(?<=/)|\A)[0-9]+[-_.](?=[^/])")
"""The number in a file name that sets the order of pages, and is not in their addresses."""
_ANY_PAGE = re.compile(r"top\Z|fn|:~:|L[0-9]+(?:-L?[0-9]+)?\Z|\Z")
"""Fragments that every page may have: its top, footnotes, text, lines."""
_ID = re.compile(
    r"""(?<![\w-])(?:id|name)[ ]*=[ ]*["']?([^\s"'<>{}]+)"""  # HTML and shortcodes
    r"""|\{:?[ ]*[^{}\n"]*?\#([^\s{}\#"]+)[^{}\n]*\}"""  # a list of attributes
    r"""|^\(([^()\s]+)\)="""  # MyST
    r"""|<!--[ ]*\w+:\w+[ ]+([^\s<>]+)[ ]*-->"""  # macros of Material for MkDocs
    r"""|^[ ]*===[!+]?[ ]+"(?P<tab>[^"\n]+)\"""",  # tabs of MkDocs
    re.MULTILINE,
)
"""What makes an anchor, besides headings."""
_TABLE_ROW = re.compile(r"^[ ]*\|[ ]*`([^`\n]+)`", re.MULTILINE)
_INCLUDE = re.compile(
    r"""\{[{%][<%]?-?[ ]*(?:include|render|embed|snippet|readfile)|--8<--|<!--[ ]*@?include|^import .*\.mdx?["']""",
    re.MULTILINE | re.IGNORECASE,
)
"""Text that comes from another file, with headings that are not in this one."""
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
    """The most similar target that exists, if there is one: a path, or ``#id`` in the right document."""


class _Lookup(NamedTuple):
    """The parts of a target, and the documents that it may mean."""

    page: str
    fragment: str
    keys: list[str]
    """Where the page would be, the most likely place first; none if it is outside of the tree."""
    pages: list[str]


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
        self._is_hugo = any(path.endswith("_index.md") for path in documents)
        self._finds_from_root = self._is_hugo or any(path.endswith(".mdx") for path in documents)
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
        found = self._lookup(path, link)
        if found is None:
            return Target()
        if found.pages:
            return self._in_pages(found.pages, found.fragment, path)
        if self._is_wiki(path, link) or (self._must_be_here(path, found) and not self._has_mounts):
            nearest = self._nearest_page(found.keys[0] if found.keys else _key(found.page))
            return Target(problem=f"no document {found.page}", nearest=nearest)
        return Target()

    def _lookup(self, path: str, link: Link) -> _Lookup | None:
        """The documents that a link may lead to; None if it leads elsewhere."""
        is_wiki = self._is_wiki(path, link)
        if _ELSEWHERE.match(link.target) or (is_wiki and not self._has_wiki_links):
            return None
        page, fragment = _split(link.target)
        if not page:
            return _Lookup(page, fragment, [], [path])
        keys = self._keys(path, page)
        pages = _unique(self._pages[key] for key in keys if key in self._pages)
        if is_wiki and not pages:
            pages = self._by_name.get(_key(page)) or self._by_name.get(_key(page.replace(" ", "-"))) or []
        elif self._is_hugo and not pages and "/" not in page and len(set(self._by_name.get(_key(page), ()))) == 1:
            pages = self._by_name[_key(page)]
        return _Lookup(page, fragment, keys, pages)

    def _is_wiki(self, path: str, link: Link) -> bool:
        return self._documents[path].text.startswith("[[", link.start)

    def _keys(self, path: str, page: str) -> list[str]:
        """The keys that a target may mean; empty for one outside of the tree."""
        if page.startswith("/"):
            key = _key(page)
            return [_joined(own, key[len(site) :]) for site, own in self._prefixes if _is_below(key, site)]
        bases = [posixpath.dirname(path), *self._bases[path]]
        if posixpath.splitext(page)[1].lower() in MARKDOWN_EXTENSIONS:
            bases = [bases[0], ""] if self._finds_from_root else bases[:1]
        joined = [posixpath.normpath(posixpath.join(base, page)) for base in bases]
        return _unique(_key(each) for each in joined if not each.startswith(".."))

    @cached_property
    def _prefixes(self) -> list[tuple[str, str]]:
        """Prefixes of absolute links, each with the folder of the tree that it stands for; the most common ones first."""
        votes: Counter[tuple[str, str]] = Counter()
        for links in self.links.values():
            for target in {link.target for link in links if link.target.startswith("/")}:
                key = _key(_split(target)[0])
                if key in self._pages:
                    votes["", ""] += 1
                    continue
                rests = [rest for rest in _suffixes(key) if rest in self._pages]
                for rest in rests:
                    votes[key[: -len(rest) - 1], ""] += 1
                for own in map(_key, () if rests else self._by_name.get(key, ())):
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
            if self._is_wiki(path, link)
        ]
        return 2 * sum(not name or _key(name) in self._by_name for name in names) >= len(names)

    @cached_property
    def _has_mounts(self) -> bool:
        """Whether the site has more pages than the tree, as Hugo's mounts make them: many documents link to several."""
        linked: dict[str, set[str]] = defaultdict(set)
        for path, found in self._lookups() if self._is_hugo else ():
            if not found.pages and self._must_be_here(path, found):
                linked[found.keys[-1]].add(path)
        return sum(len(paths) >= _MIN_LINKED for paths in linked.values()) >= _MIN_MOUNTED

    @cached_property
    def _template_anchors(self) -> set[str]:
        """Fragments that several pages lack that have headings written by a shortcode: those of such headings."""
        lacking: dict[str, set[str]] = defaultdict(set)
        for _, found in self._lookups():
            page = found.pages[0] if found.pages and found.fragment else ""
            if page and self._section(page, found.fragment) is None and _has_template_headings(self._documents[page]):
                lacking[found.fragment].add(page)
        return {fragment for fragment, pages in lacking.items() if len(pages) > 1}

    def _lookups(self) -> Iterator[tuple[str, _Lookup]]:
        for path, links in self.links.items():
            for link in links:
                found = self._lookup(path, link)
                if found is not None:
                    yield path, found

    def _must_be_here(self, path: str, found: _Lookup) -> bool:
        """Whether a page that is not in the tree would have to be."""
        page, keys = found.page, found.keys
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
        folders = [posixpath.dirname(key) for key in keys]
        if page.startswith("/"):  # beside the tree there may be other pages of the site
            folders = [folder for folder, key in zip(folders, keys, strict=True) if folder or key != _key(page)]
        return any(folder in self._folders for folder in folders)

    def _in_pages(self, pages: list[str], fragment: str, path: str) -> Target:
        """The section of the first page that has it."""
        for page in pages:
            section = self._section(page, fragment)
            if section is not None:
                return Target(page, section)
        if self._may_have(pages[0], fragment):
            return Target(pages[0])
        missing = f"no section #{fragment}" + (f" in {pages[0]}" if pages[0] != path else "")
        close = get_close_matches(fragment, self._anchors[pages[0]][0], n=1)
        elsewhere = self._pages_by_anchor.get(fragment, [])
        moved = f"{elsewhere[0]}#{fragment}" if len(elsewhere) == 1 else ""
        return Target(pages[0], problem=missing, nearest=moved or (f"#{close[0]}" if close else ""))

    @cached_property
    def _pages_by_anchor(self) -> dict[str, list[str]]:
        pages: dict[str, list[str]] = defaultdict(list)
        for path, document in self._documents.items():
            for section in document.sections[1:]:
                pages[section.anchor].append(path)
        return pages

    def _section(self, path: str, fragment: str) -> int | None:
        """The number of the section with an anchor; None if there is none."""
        if _ANY_PAGE.match(fragment):
            return 0
        document = self._documents[path]
        if path not in self._anchors:
            self._anchors[path] = {each.anchor: each.number for each in document.sections[1:]}, {}
        own, others = self._anchors[path]
        if fragment in own:
            return own[fragment]
        if not others:
            others.update(_other_anchors(document))
        by_title = github_slug(fragment.rpartition("#")[2])  # wiki links
        names = (fragment, fragment.removeprefix("user-content-"), fragment.lstrip("+"), by_title)
        return next((others[name] for name in names if name in others), None)

    def _may_have(self, path: str, fragment: str) -> bool:
        """Whether a page may have an anchor that cannot be seen in its source."""
        document = self._documents[path]
        if len(document.sections) == 1 or _PARTIAL.search(path) or _INCLUDE.search(document.text):
            return True
        if _has_template_headings(document) and fragment in self._template_anchors:
            return True
        key = _key(path)
        folder = key if key == posixpath.dirname(path).casefold() else posixpath.dirname(key)
        names = (fragment.casefold(), fragment.casefold().partition("-")[2])
        if any(_joined(folder, name) in self._pages for name in names if name):  # a list of the pages in the folder
            return True
        tabs = re.sub(r"-[0-9]+\Z", "", fragment)
        return any(tabs == name.replace("_", "-") for name in self._anchors[path][1])

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
        section = document.sections[max(document.section_at(match.start()), 0)]
        name = match[match.lastindex or 1]
        if match["tab"]:
            name = unicode_slug(name)
            found.setdefault(f"{section.anchor}-{name}", section.number)
        found.setdefault(name, section.number)
    if (document.path or "").endswith(".mdx"):  # components make anchors of table rows
        for match in _TABLE_ROW.finditer(document.text):
            found.setdefault(match[1], document.section_at(match.start()))
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


def _has_template_headings(document: Document) -> bool:
    return any("{{" in document.text[section.start : section.body_start] for section in document.sections[1:])


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _joined(prefix: str, rest: str) -> str:
    return f"{prefix}/{rest.strip('/')}".strip("/")


def _split(target: str) -> tuple[str, str]:
    """The page and the fragment of a target."""
    page, _, fragment = target.partition("#")
    return unquote(page.partition("?")[0]).strip(), unquote(fragment)


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
