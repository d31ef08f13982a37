"""Heading text to slugs: the ASCII ones in ids, and the anchors that GitHub and documentation generators make."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from quire.model.document import Document

_NOT_KEPT = re.compile(r"[^a-z0-9_\- ]+")
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_ASCII_ANCHOR = {
    code: "-" if chr(code) == " " else chr(code).lower() if chr(code).lower() in _KEPT else None for code in range(128)
}
_ASCII_ANCHORS = _ASCII_ANCHOR | {10: "\n"}
_OTHER_IN_IDS = re.compile(r"[-\n][-\n]")
"""Hyphens in a row or at the ends of an anchor, or none but them: its slug in ids is another."""
_KEPT_CATEGORIES = frozenset({"Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_CIRCLED_AND_SQUARED = re.compile(r"[\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]")
"""The symbols that Unicode calls alphabetic: Latin letters in circles and squares."""
_GAP = re.compile(r"[- ]+")
_HYPHENS = re.compile(r"[-\s]+")
_EMOJI = re.compile(r"(?<!\w):[a-z0-9_+-]+:(?!\w)")
_NOT_WORD = re.compile(r"[^\w\s-]")
_VITEPRESS_GAP = re.compile(r"""[\x00-\x1f\s~`!@#$%^&*()\-_+=\[\]{}|\\;:"'\u201c\u201d\u2018\u2019<>,.?/]+""")
_GITBOOK_WORDS = {"<": " less than ", ">": " greater than ", "|": " or ", "&": " and "}
_NOT_LETTERS = re.compile(r"[\W_]+")
_NOT_KRAMDOWN = re.compile(r"[^A-Za-z0-9 -]")
_NO_LETTERS = "".join(chr(code) for code in range(128) if not chr(code).isalpha())
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_MDN_PUNCTUATION = re.compile(r"""["#$%&+,/:;=?@\[\]^`{|}~')(\\]""")
_WHITE = re.compile(r"[\t\r\n\x0b\x0c]")


def unique_slugs(titles: Sequence[str], ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """The slugs of all headings, in node ids and for links. A taken slug gets the next free suffix, from ``-1`` on."""
    joined = "\n".join(titles)
    if joined.isascii() and joined.replace("\n", "").isprintable() and joined.count("\n") == len(titles) - 1:
        slugged = joined.translate(_ASCII_ANCHORS)  # all at once is faster
        in_ids = anchors = slugged.split("\n")
        if _OTHER_IN_IDS.search(f"\n{slugged}\n"):
            in_ids = [ascii_slug(title) for title in titles]
    else:
        in_ids, anchors = [ascii_slug(title) for title in titles], [github_slug(title) for title in titles]
    if any(ids):
        in_ids, anchors = (
            [explicit or slug for explicit, slug in zip(ids, slugs, strict=True)] for slugs in (in_ids, anchors)
        )
    unique = _unique(in_ids)
    return unique, unique if in_ids == anchors else _unique(anchors)


def _unique(wanted: list[str], separator: str = "-", first: int = 1) -> list[str]:
    if len(set(wanted)) == len(wanted):
        return wanted
    next_suffix: dict[str, int] = {}
    unique: list[str] = []
    for base in wanted:
        slug = base
        if base in next_suffix:
            suffix = next_suffix[base]
            while (slug := f"{base}{separator}{suffix}") in next_suffix:
                suffix += 1
            next_suffix[base] = suffix + 1
        next_suffix[slug] = first
        unique.append(slug)
    return unique


def ascii_slug(title: str) -> str:
    """Lower case ASCII letters, digits and underscores, with single hyphens; ``heading`` when none is left."""
    text = _WHITE.sub(" ", title.lower())
    return _GAP.sub("-", _NOT_KEPT.sub("", text)).strip("-") or "heading"


def github_slug(title: str) -> str:
    """GitHub's rule: alphabetic characters, marks, decimal digits and connectors are kept, each space is a hyphen."""
    if title.isascii():
        return title.translate(_ASCII_ANCHOR)
    return "".join(filter(_is_kept, title.lower())).replace(" ", "-")


def _is_kept(char: str) -> bool:
    is_kept = char.isalpha() or char in " -" or unicodedata.category(char) in _KEPT_CATEGORIES
    return is_kept or _CIRCLED_AND_SQUARED.match(char) is not None


def blackfriday_slug(title: str) -> str:
    """Hugo with the heading ids of Blackfriday: everything that is not a letter or digit becomes one hyphen."""
    return _NOT_LETTERS.sub("-", title).strip("-").lower()


def vitepress_slug(title: str) -> str:
    """VitePress: accents removed, everything that is not a letter or digit becomes one hyphen, ``_`` before a digit."""
    plain = "".join([char for char in unicodedata.normalize("NFKD", title) if not "\u0300" <= char <= "\u036f"])
    slug = _VITEPRESS_GAP.sub("-", plain).strip("-").lower()
    return f"_{slug}" if slug[:1].isdigit() else slug


def mkdocs_slug(title: str) -> str:
    """Python-Markdown: ASCII letters, digits and underscores; white space and hyphens become one hyphen; no emoji."""
    ascii_only = unicodedata.normalize("NFKD", _EMOJI.sub("", title)).encode("ascii", "ignore").decode("ascii")
    return _HYPHENS.sub("-", _NOT_WORD.sub("", ascii_only).strip().lower())


def unicode_slug(title: str) -> str:
    """PyMdown's slugs for MkDocs: as Python-Markdown, with letters of every script and every hyphen kept."""
    return _NOT_WORD.sub("", unicodedata.normalize("NFC", _EMOJI.sub("", title)).strip()).lower().replace(" ", "-")


def sphinx_slug(title: str) -> str:
    """Sphinx (docutils): ASCII letters and digits with single hyphens, from the first letter on."""
    ascii_only = unicodedata.normalize("NFKD", title.lower()).encode("ascii", "ignore").decode("ascii")
    return _NOT_ALPHANUMERIC.sub("-", ascii_only).strip("-").lstrip("0123456789-")


class SlugRule(NamedTuple):
    """How a generator makes anchors of titles."""

    slug: Callable[[str], str]
    separator: str = "-"  # before the number of a slug that is taken
    first: int = 1  # the number of the second heading with the same slug


RULES: Mapping[str, SlugRule] = {
    **dict.fromkeys(("github", "docusaurus", "hugo"), SlugRule(github_slug)),
    "blackfriday": SlugRule(blackfriday_slug),
    # as Blackfriday, with words for some signs
    "gitbook": SlugRule(lambda title: blackfriday_slug("".join(_GITBOOK_WORDS.get(char, char) for char in title))),
    "vitepress": SlugRule(vitepress_slug),
    "mkdocs": SlugRule(mkdocs_slug, "_"),
    "pymdownx": SlugRule(unicode_slug, "_"),
    # Jekyll: from the first ASCII letter on, ASCII letters, digits and hyphens; a hyphen for each space
    "kramdown": SlugRule(lambda title: _NOT_KRAMDOWN.sub("", title.lstrip(_NO_LETTERS)).replace(" ", "-").lower()),
    "sphinx": SlugRule(sphinx_slug),
    # MDN: lower case with an underscore for each run of white space; punctuation removed
    "underscore": SlugRule(lambda title: "_".join(_MDN_PUNCTUATION.sub("", title.lower()).split()), "_", 2),
    "ascii": SlugRule(ascii_slug),
    # letters, digits and underscores; each gap becomes a hyphen, and hyphens of the title are removed
    "vscode": SlugRule(lambda title: "-".join(_NOT_WORD.sub("", title.lower()).replace("-", "").split())),
}


def section_anchors(document: Document, rule: str) -> list[str]:
    """The anchor of each section of a document by a rule; the document's own is empty."""
    sections = document.section_columns
    if rule == "ascii" or RULES[rule] == RULES["github"]:
        return sections.slugs if rule == "ascii" else sections.anchors
    return ["", *anchors(rule, sections.titles[1:], sections.ids[1:])]


def anchors(rule: str, titles: Sequence[str], ids: Sequence[str]) -> list[str]:
    """The anchors of all headings of a document by a rule; ``ids`` has those that authors gave."""
    slug, separator, first = RULES[rule]
    wanted = [explicit or slug(title) for explicit, title in zip(ids, titles, strict=True)]
    return _unique(wanted, separator, first)
