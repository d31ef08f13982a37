"""The breadcrumb: one line above a chunk that says where it is in the document, such as ``Guide > Setup > Linux``."""

from collections.abc import Callable, Iterable, Sequence

from quire.model.document import Document
from quire.model.options import Options

SEPARATOR = " > "
LIMIT = 160  # the longest breadcrumb line, in characters
ELLIPSIS = "…"
_MOST_KNOWN = 10_000  # those of a million sections would take more memory than the text
_NO_LIMIT = 1 << 62
_SHORTEST = 10  # a shorter line says nothing useful


class Breadcrumbs:
    """The breadcrumb lines of a document's sections, each made once. A line takes at most half of the cap."""

    def __init__(self, document: Document, tokens_of: Callable[[str], int], options: Options) -> None:
        self.tokens_of = tokens_of  # of lines, and of what else several pieces have in front
        self._is_off = options.breadcrumb_mode == "none"
        self._room = options.cap // 2 if options.cap else _NO_LIMIT
        self._lines: dict[int, str] = {}
        self._parents, self._titles = document.section_columns.parents, document.section_columns.titles
        self._paths: dict[int, tuple[str, ...]] = {0: ()}
        self.most_tokens = 0
        """With a cap, no line has more tokens than this: a token is at least a byte."""
        if self._is_off or not options.cap:
            return
        widths: list[int] = []
        for parent, title in zip(self._parents, self._titles, strict=True):
            widths.append((widths[parent] + len(SEPARATOR) if widths else 0) + len(title))
        bytes_a_character = 1 if "".join(self._titles).isascii() else 4
        most_bytes = (min(max(widths), LIMIT) + len("\n\n")) * bytes_a_character + len(ELLIPSIS.encode())
        self.most_tokens = min(self._room, most_bytes)

    def path(self, section: int) -> tuple[str, ...]:
        """The heading path of a section: the titles from the top down to its own."""
        path = self._paths.get(section)
        if path is None:
            path = self._paths[section] = (*self.path(self._parents[section]), self._titles[section])
        return path

    def prefix(self, section: int) -> str:
        """The line of a section with the blank line below it; for the document the title alone."""
        line = self._lines.get(section)
        if line is None:
            line = "" if self._is_off else self._fitted(self._titles[0], self.path(section))
            if len(self._lines) >= _MOST_KNOWN:
                self._lines.clear()
            self._lines[section] = line
        return line

    def repeats(self, heading: str, section: int) -> bool:
        """Whether the line of a section says only what ``heading`` says."""
        prefix = self.prefix(section)
        if SEPARATOR in prefix and ">" not in heading:
            return False  # the line says more
        return prefix == self._fitted("", (heading,))

    def _fitted(self, title: str, titles: Sequence[str]) -> str:
        """As much of the full line as there is room for, with the blank line below it; empty if nothing fits."""
        limit = LIMIT
        while limit >= _SHORTEST and (line := full_line(title, titles, limit)):
            prefix = f"{line}\n\n"
            if self._room == _NO_LIMIT or self.tokens_of(prefix) <= self._room:
                return prefix
            limit //= 2
        return ""


def full_line(title: str, header_path: Sequence[str], limit: int = LIMIT) -> str:
    """``Title > Parent > Section``; the title is left out where it equals the first heading."""
    segments = [title, *header_path] if title and (not header_path or header_path[0] != title) else [*header_path]
    line = SEPARATOR.join(segments)
    if len(line) <= limit and line.isprintable() and "  " not in line and line == line.strip():
        return line  # the usual case; a blank segment would leave two spaces, or one at an end
    return shorten(_lines(segments), limit)


def reader_line(title: str, header_path: Sequence[str], *, from_first: bool = True) -> str:
    """``> Title › Parent › Section``: the line above a section, without a first heading that equals the title."""
    below = header_path[1:] if from_first and header_path and header_path[0] == title else header_path
    return joined(_lines((title, *below)))


def joined(titles: Iterable[str]) -> str:
    """Titles without line breaks, joined as readers see them."""
    return f"> {' › '.join(titles)}"


def one_line(text: str) -> str:
    """A title without line breaks, cut to what a breadcrumb can show."""
    return " ".join(text[: 4 * LIMIT].split())


def shorten(segments: Sequence[str], limit: int = LIMIT) -> str:
    """The segments in one line of at most ``limit`` characters: middle segments become ``…``, first and last stay."""
    line = SEPARATOR.join(segments)
    if len(line) <= limit or not segments:
        return line
    if len(segments) == 1:
        return _cut(segments[0], limit)
    first, last = segments[0], segments[-1]
    for dropped in range(1, len(segments) - 1):
        line = SEPARATOR.join((first, ELLIPSIS, *segments[dropped + 1 :]))
        if len(line) <= limit:
            return line
    joint = SEPARATOR + ELLIPSIS + SEPARATOR if len(segments) > 2 else SEPARATOR
    room = limit - len(joint)
    last = _cut(last, max(room - len(first), room // 2))  # the shorter one keeps as much as it can
    return _cut(first, room - len(last)) + joint + last


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def _lines(segments: Iterable[str]) -> list[str]:
    """Each segment without line breaks; blank ones are left out."""
    return [line for segment in segments if (line := one_line(segment))]
