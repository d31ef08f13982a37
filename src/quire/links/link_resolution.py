"""Finds the pages that links lead to by their addresses: docs/generators.md lists them."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

import msgspec

from quire.model.dialects import INDEX_NAMES, ORDER
from quire.model.document import Document, Link
from quire.parsing.slugs import github_slug
from quire.read.file_endings import MARKDOWN_EXTENSIONS

_PAGE_EXTENSIONS = frozenset({*MARKDOWN_EXTENSIONS, ".html", ".htm"})
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|@|.*[{}<>$*|]|[A-Z]+(?:_[A-Z]+)+\Z", re.DOTALL)
"""Targets on other sites, aliases of bundlers (``@site/``), templates and placeholders."""
_FILE_EXTENSION = re.compile(r"\.[a-z][a-z0-9]*\Z")
_RARE = 4  # a prefix is used if its count has less than so many binary digits less than that of the most common one
_MAX_COMPARED = 100  # with how many pages of the same name a link is compared to find prefixes


class Page(NamedTuple):
    """A document, as far as finding it needs."""

    path: str
    keys: tuple[str, ...]  # its addresses: that of its path, then others


class InternalLink(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link that may lead to a document of the tree."""

    text: str
    page: str  # its target without the fragment; empty for the document that has the link
    fragment: str = ""
    is_wiki: bool = False  # written as ``[[a]]``
    line: int = 0  # where it is, if that was asked for: its line,
    position: int = 0  # and the node that has it
    target: str = ""  # the other document that it leads to, as far as that is known

    @property
    def extension(self) -> str:
        """The extension of its page in lower case."""
        return posixpath.splitext(self.page)[1].lower()

    @property
    def is_file(self) -> bool:
        """Whether its page looks like a file that is no document."""
        return _FILE_EXTENSION.match(self.extension) is not None and self.extension not in _PAGE_EXTENSIONS


class Lookup(NamedTuple):
    """The documents that a link may mean."""

    link: InternalLink
    keys: Sequence[str]  # where the page would be; empty if that is outside of the tree
    pages: Sequence[str]  # the documents, the most likely one first

    @property
    def names(self) -> set[str]:
        """The last names of addresses that decide where it leads."""
        return set(map(last_name, (*self.keys, *keys_by_name(self.link.page))))


Sign: TypeAlias = tuple[str, str]
"""A prefix of absolute links and the folder that it stands for, both between slashes; or a kind of page or link."""
_HUGO, _MDX = ("page", "_index.md"), ("page", ".mdx")
_WIKI_FOUND, _WIKI_LOST = ("wiki", "found"), ("wiki", "lost")


class Site(NamedTuple):
    """What the signs of a tree say about links."""

    prefixes: tuple[Sign, ...] = (("/", "/"),)  # the prefixes of absolute links, the most common first
    is_hugo: bool = False  # whether Hugo makes the site
    is_mdx: bool = False
    has_wiki_links: bool = True  # whether ``[[a]]`` is a link here: at least half of them lead somewhere

    @classmethod
    def of(cls, signs: Mapping[Sign, int]) -> "Site":
        """The site of a tree. Magnitudes are compared, so that an edit hardly ever changes links of other pages."""
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
    """Finds the pages of a tree by addresses; ``pages_named`` has those with an address of this last name."""

    def __init__(self, pages_named: Callable[[str], Iterable[Page]]) -> None:
        self.site = Site()  # set it before ``lookup``; ``signs`` does not need it
        self._pages_named = pages_named
        self._by_name: dict[str, dict[str, str]] = {}  # the pages by the last name of an address, and by the address
        self._prefixes_of: dict[str, list[Sign]] = {}  # by the address of a link
        self._signs: dict[Sign, Sign] = {}  # one of each, as many links have the same

    def page(self, key: str) -> str | None:
        """The page at an address."""
        return self._named(last_name(key)).get(key)

    def lookup(self, page: Page, link: InternalLink) -> Lookup:
        """The documents that a link in ``page`` may lead to."""
        target = link.page
        if not target:
            return Lookup(link, (), [page.path])
        if target.startswith("/"):
            key = f"/{address(target)}/"
            prefixes = [(site, folder) for site, folder in self.site.prefixes if key.startswith(site)]
            keys = [f"{folder}{key[len(site) :]}".strip("/") for site, folder in prefixes]
        else:
            keys = self._relative_keys(page, link)
        pages = list(dict.fromkeys(path for key in keys if (path := self.page(key)) is not None))
        if not pages and (link.is_wiki or (self.site.is_hugo and "/" not in target)):
            pages = self._pages_by_name(target)
            pages = pages if link.is_wiki or len(pages) == 1 else []
        return Lookup(link, keys, pages)

    def signs(self, page: Page, links: Iterable[InternalLink]) -> Counter[Sign]:
        """What a page and its links show about the site."""
        signs = Counter([sign for sign in (_HUGO, _MDX) if page.path.endswith(sign[1])])
        for link in links:
            if link.is_wiki:
                signs[_WIKI_FOUND if not link.page or self._pages_by_name(link.page) else _WIKI_LOST] += 1
            elif link.page.startswith("/"):
                key = address(link.page)
                if key not in self._prefixes_of:
                    self._prefixes_of[key] = self._prefixes(key)
                signs.update(self._prefixes_of[key])
        return signs

    def _named(self, name: str) -> dict[str, str]:
        if name not in self._by_name:
            pages = sorted(self._pages_named(name))
            addresses = {key: page.path for page in pages for key in page.keys[1:]}
            addresses |= {page.keys[0]: page.path for page in pages}
            self._by_name[name] = {key: path for key, path in addresses.items() if last_name(key) == name}
        return self._by_name[name]

    def _pages_by_name(self, target: str) -> list[str]:
        """The pages with an address that ends with a target."""
        ends = [(f"/{key}", self._named(last_name(key))) for key in keys_by_name(target) if key]
        matching = [[path for key, path in named.items() if f"/{key}".endswith(end)] for end, named in ends]
        return list(dict.fromkeys(next(filter(None, matching), ())))

    def _relative_keys(self, page: Page, link: InternalLink) -> list[str]:
        """Where a page may be; empty if that is outside of the tree."""
        bases = [posixpath.dirname(page.path)]
        if link.extension not in MARKDOWN_EXTENSIONS:
            bases += [base for key in page.keys for base in (key, posixpath.dirname(key))]
        elif self.site.is_mdx or (self.site.is_hugo and "/" in link.page):
            bases.append("")
        joined = [posixpath.normpath(posixpath.join(base, link.page)) for base in dict.fromkeys(bases)]
        return list(dict.fromkeys(address(path) for path in joined if not path.startswith("..")))

    def _prefixes(self, key: str) -> list[Sign]:
        """What is before the end that an absolute link shares with the most similar addresses: two names, or all."""
        prefixes: dict[tuple[int, int], list[Sign]] = {}
        names = key.split("/")
        for other in islice(self._named(names[-1]) if key else (), _MAX_COMPARED):
            others = other.split("/")
            shared = len(posixpath.commonprefix([names[::-1], others[::-1]]))
            if shared >= min(2, len(names), len(others)):
                site, folder = (f"/{'/'.join(parts[:-shared])}/".replace("//", "/") for parts in (names, others))
                sign = self._signs.setdefault((site, folder), (site, folder))
                prefixes.setdefault((shared, -len(others)), []).append(sign)
        return prefixes[max(prefixes)] if prefixes else []


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
    return Page(path, tuple(dict.fromkeys((address(path), *_other_keys(path, frontmatter)))))


def last_name(key: str) -> str:
    """The last name in an address."""
    return key.rpartition("/")[2]


@lru_cache(maxsize=16_384)
def address(path: str) -> str:
    """A path or an address without what may differ: slashes around it, extension, ``index``, case."""
    path = posixpath.normpath(f"/{path}").strip("/").casefold()
    stem, extension = posixpath.splitext(path)
    path = stem if extension in _PAGE_EXTENSIONS else path
    folder, _, name = path.rpartition("/")
    return folder if name in INDEX_NAMES else path


def keys_by_name(target: str) -> list[str]:
    """The keys of a page that is named without its folders."""
    return list(dict.fromkeys((address(target), address(target.replace(" ", "-")))))


def _other_keys(path: str, frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a page by its front matter, and by its path without numbers."""
    for name in ("url", "permalink", "slug", "id", "aliases", "redirect_from"):
        value = frontmatter.get(name)
        for value_in_list in value if isinstance(value, list) else [value]:
            if isinstance(value_in_list, str) and value_in_list and ":" not in value_in_list:
                yield address(posixpath.join(posixpath.dirname(path), value_in_list))
                if "/" in value_in_list or name == "url":  # from the root of the site
                    yield address(value_in_list)
    if ORDER.search(path):
        yield address(ORDER.sub("", path))
