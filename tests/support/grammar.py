"""Random Markdown: documents built from a grammar, and short hostile texts built from the characters that matter.

A block is a list of lines without line ends, so that a container can indent or prefix it, whatever it holds. Every
choice is a pick from a table with the plainest entry first, and every repetition is a list: a failing document shrinks
to few blocks of plain words. Nothing here is filtered or retried, so nearly every attempt gives a document.

    words -> inline text -> leaf blocks -> containers (lists, quotes, directives ...) -> documents
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, groupby, islice
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

__all__ = ["Lines", "blocks", "documents", "small_texts"]

Lines = list[str]
"""A rendered block: its lines, without line ends."""

_Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""Lines above and below others."""

_DEPTH = 2
"""How often a container may hold other containers. One step may itself be a tower of six."""

# --------------------------------------------------------------------------------------------------------------------
# Characters and words
# --------------------------------------------------------------------------------------------------------------------
# fmt: off

_HOSTILE = "#`~-=*_+>|:[]()!<>/\\&$ \t\n\r01aé漢😀\ufeff\u2028\x00\x0c"
"""Characters that mean something to a Markdown parser, to a line splitter or to a decoder."""

_HOSTILE_IN_LINE = "".join(sorted(set(_HOSTILE) - set("\r\n")))

_ODD = (
    "\u00a0", "\x00", "\ufeff", "\x0c", "\x0b", "\u2028", "\u2029", "\x85", "\x1c", "\u200b", "\u200d", "\u0301",
    "\u202e", "\u3000", "\ufffd", "\t", "\r", "\U0010ffff",
)
"""Characters that split lines, words or graphemes where one does not expect it, or refuse to."""

_SURROGATES = ("\ud800", "\udfff", "\udc80", "\ud83d", "\ude00")

_PLAIN_WORDS = (
    "alpha", "beta", "Gamma", "the", "a", "delta.", "Is", "it?", "Yes!", "one,", "e.g.", "Dr.", "3.14", "1.0.21",
    "C++", "my_var_name", "real-time", "24/7", "/etc/hosts", "“Quoted.”", "x",
)

_MARKED_WORDS = (
    "*emphasis*", "**strong**", "_under_", "***both** half*", "~~gone~~", "`code`", "``a ` b``", "`# code`", "`a|b`",
    "[link](https://x.example/a_(b))", '[link *em* `c`](/u "title")', "[ref]", "[text][ref]", "[text][]",
    "[[Wiki page]]", "[[Page#Part|shown]]", "![alt *em* `c`](i.png)", "![[embed.png]]", "![img][ref]",
    "[![badge](b.svg)](u)", "<https://x.example/?a=b&c>", "https://x.example/path_a_b", "me@x.example", "<b>",
    "</b>", '<a href="x">in</a>', "<br/>", "<!-- note -->", "&amp;", "&#35;", "&#x1F600;", "&nbsp;", "&copy;",
    "&bogus;", "&#0;", "\\#", "\\*not\\*", "\\|", "\\", "a|b", ":smile:", "#tag", "#", "##", "{#custom-id}",
    '{{< ref "a.md" >}}', "{{% param %}}", "{props.value}",
)

_EXTENSION_WORDS = (
    "[^1]", "[^long-note]", "^[inline note]", "$x_1 < y$", "$$y = 1$$", "==mark==", ":role:`x`", "~sub~",
)

_WORLD_WORDS = (
    "é", "e\u0301", "Straße", "漢字かな交じり文。", "한국어", "ภาษาไทยไม่มีช่องว่าง", "हिन्दी", "العربية", "שלום", "😀",
    "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "👍🏽", "1\ufe0f\u20e3", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢", "𝒳𐍈", "no\u00a0break", "a\u2028b",
    "a\u2029b", "a\x85b", "a\x0cb", "a\x00b", "a\ufeffb", "a\u200bb", "\u3000", "tab\tinside",
)

_BROKEN_WORDS = (
    "**open", "`open", "``` open", "[open](", "[open", "![", "](", "<open", '<a href="', "<!--", "-->", "]]>",
    "</details>", "{{<", "[[", "]]", "*", "_", "-", "+", ">", "1.", "---", "===", "|", "|-|", "[ ]", "[x]:", ":",
)

_LONG_WORDS = (
    "x" * 300, "data:image/png;base64," + "iVBORw0KGgo" * 60, "漢" * 200, "a-" * 150, "😀" * 90, "[" * 60, "a" * 2500,
)

# fmt: on

# --------------------------------------------------------------------------------------------------------------------
# Rendering: from choices to lines
# --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Wrap:
    """How a container holds lines: what stands before each of them, and which lines stand around them."""

    first: str = ""
    """Before the first line."""
    rest: str = ""
    """Before the others that are not blank."""
    blank: str = ""
    """In place of the blank ones."""
    head: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()

    def around(self, lines: Lines) -> Lines:
        """The lines, held."""
        held = [
            self.first + line if i == 0 else self.rest + line if line.strip() else self.blank
            for i, line in enumerate(lines)
        ]
        return [*self.head, *held, *self.tail]


def _sentence(words: Sequence[str], glue: Sequence[str]) -> str:
    return glue[0].join(words)


def _paragraph(styles: Sequence[tuple[str, str]], texts: Sequence[str]) -> Lines:
    return [start + text + end for (start, end), text in zip(cycle(styles), texts, strict=False)]


def _atx(style: Sequence[str], text: str) -> Lines:
    indent, marks, gap, closing = style
    return [f"{indent}{marks}{gap}{text}{closing}"]


def _setext(style: Sequence[str], texts: Sequence[str]) -> Lines:
    indent, underline = style
    return [*(indent + text for text in texts), underline]


def _fence(style: Sequence[str], body: Sequence[str]) -> Lines:
    """A fence; the closing is a template that gets the opening mark, or empty for a fence that is never closed."""
    indent, mark, info, closing = style
    inner = [indent + line.replace("FENCE", mark[:-1]) if line else line for line in body]
    end = [indent + closing.format(mark=mark, less=mark[:-1])] if closing else []
    return [f"{indent}{mark}{info}", *inner, *end]


def _indented(indent: str, body: Sequence[str]) -> Lines:
    return [indent + line if line else line for line in body]


def _between(pair: _Pair, body: Sequence[str]) -> Lines:
    return [*pair[0], *body, *pair[1]]


def _table(
    lead: tuple[str, ...], outer: bool, header: Sequence[str], rule: Sequence[str], rows: Sequence[str]
) -> Lines:
    """A table. Rows are cells run together and cut at `/`, so they may be ragged; nor need header and rule agree."""

    def line(cells: Sequence[str], glue: str) -> str:
        return f"|{glue.join(cells)}|" if outer else glue.join(cells)

    body = [list(cells) for last, cells in groupby(rows, "/".__eq__) if not last]
    return [*lead, line(header, " | "), line(rule, "|"), *(line(cells, " | ") for cells in body)]


def _matched_table(
    lead: tuple[str, ...], outer: bool, header: Sequence[str], rule: Sequence[str], rows: Sequence[str]
) -> Lines:
    """A table whose delimiter row fits its header, so that it is one (a single column needs its outer pipes)."""
    fitting = list(islice(cycle(rule), len(header)))
    return _table(lead, outer or len(header) == 1, header, fitting, rows)


def _list(style: Sequence[str], gap: tuple[str, ...], items: Sequence[Lines]) -> Lines:
    """A list. `indent` continues an item, `=` standing for exactly its content column; `=` in `count` counts up."""
    marker, pad, box, indent, count = style
    lines: Lines = []
    for i, item in enumerate(items):
        mark = f"{int(marker[:-1]) + i}{marker[-1]}" if count and marker[:-1].isdigit() else marker
        rest = " " * (len(mark) + min(len(pad.expandtabs(4)), 4)) if indent == "=" else indent
        if lines:
            lines += gap
        lines += _Wrap(f"{mark}{pad}{box}", rest).around(item or [""])
    return lines


def _ladder(wraps: Sequence[_Wrap], gap: tuple[str, ...], text: str, foot: Lines) -> Lines:
    """Containers in containers, a line of text on each step and a block at the foot."""
    lines = foot
    for wrap in reversed(wraps):
        lines = wrap.around([text, *gap, *lines])
    return lines


def _wrapped(wraps: Sequence[_Wrap], lines: Lines) -> Lines:
    for wrap in reversed(wraps):
        lines = wrap.around(lines)
    return lines


def _reference(style: Sequence[str]) -> Lines:
    label, colon, target, title = style
    return f"[{label}]:{colon}{target}{title}".split("\n")


def _after(first: Lines, gap: tuple[str, ...], second: Lines) -> Lines:
    return [*first, *gap, *second]


def _sequence(parts: Sequence[tuple[Lines, tuple[str, ...]]]) -> Lines:
    """Blocks below one another, each followed by its gap; the last gap is dropped."""
    lines: Lines = []
    pending: tuple[str, ...] = ()
    for block, gap in parts:
        lines += pending
        lines += block
        pending = gap
    return lines


def _front_matter(style: Sequence[str], body: Sequence[str]) -> Lines:
    opening, closing = style
    return [opening, *body, *([closing] if closing else [])]


def _document(
    bom: str,
    front: Lines,
    body: Lines,
    ends: Sequence[str],
    final: int,
    spikes: Sequence[tuple[int, str]],
    surrogates: Sequence[tuple[int, str]],
    extensions: bool,
) -> str:
    """The text: lines with their ends, `final` ends after the last line, odd characters put in at their places."""
    lines = [*front, *body]
    turning = cycle(ends)
    text = "".join(line + next(turning) for line in lines[:-1]) + "".join(lines[-1:])
    text += "".join(next(turning) for _ in range(final))
    text = bom + text
    for position, character in (*spikes, *surrogates):
        at = position % (len(text) + 1)
        text = text[:at] + character + text[at:]
    return text if extensions else _without_extensions(text)


def _without_extensions(text: str) -> str:
    """The text with everything disarmed that only an extension of CommonMark would read, apart from tables."""
    text = text.lstrip("\ufeff").replace("$", "S")
    text = re.sub(r":{3,}", "::", text)
    text = re.sub(r"\[\^+", "[", text)
    text = re.sub(r"(?<!~)~(?!~)", "-", text)
    return "\n" + text if text.startswith(("---", "+++")) else text


# --------------------------------------------------------------------------------------------------------------------
# Tables of choices
# --------------------------------------------------------------------------------------------------------------------
# fmt: off

_GAPS: tuple[tuple[str, ...], ...] = (
    ("",), ("",), ("",), (), (), ("", ""), ("  ",), ("\t",), ("", "", "", ""), ("\x0c",),
)
_SMALL_GAPS: tuple[tuple[str, ...], ...] = ((), ("",), (" ",), ("", ""))

_ENDS = ("\n", "\r\n", "\r")
_CODE_INDENTS = ("    ", "\t", "     ", "  \t", "        ")
_INDENTS = ("", "", "", "", " ", "  ", "   ", "    ", "\t")
_LINE_STARTS = ("", "", "", "", "", "", "", "", "", "", " ", "   ", "    ", "\t", "/", "// ", "\u00a0", "\ufeff")
_LINE_ENDS = ("", "", "", "", "  ", "\\", " ", "\t", "     ", " \t ", "\u00a0")
_LINE_STYLES = tuple((start, end) for end in _LINE_ENDS for start in _LINE_STARTS)

_ATX_INDENTS = ("", "", "", "", "", "", " ", "  ", "   ", "    ", "\t")
_ATX_MARKS = ("#", "##", "###", "####", "#####", "######", "#", "##", "###", "#######", "\\#")
_ATX_GAPS = (" ", " ", " ", " ", " ", "  ", "\t", " \t ", "", "\u00a0")
_ATX_CLOSINGS = (
    "", "", "", "", " #", " ##", " ######", " ########", "#", " \\##", " # ", " ##\t", "\t#", "  ", " #a", " {#id}",
)
_ATX_LINES = (
    "#", "##", "## ##", "##  ##", "### ###   ", "#\t", "######", "   #", "# #", "#  ", "#\u00a0", "#######", "#tag",
    "#5 bolt", "#!bash", "    # four", "   ### three", "## about #metoo",
)

_UNDERLINES = (
    "===", "---", "=", "-", "==========", "  ---", "   ===", "===  ", "---\t", "    ===", "== =", "- -", "===a",
    "--",
)

_FENCE_MARKS = ("```", "~~~", "````", "~~~~", "``````", "~~~~~~~", "`````````", "``", "~~")
_INFOS = (
    "", "", "python", "c++", " rust,ignore", 'py title="a b"', "{.bash #id}", "\tjs", "mermaid  ", "a`b", "~", "😀",
    "a\\*b&amp;", "md",
)
_FENCE_CLOSINGS = (
    "{mark}", "{mark}", "{mark}", "{mark}", "{mark}\t", "{mark}  ", "{mark}{mark}", "  {mark}", "    {mark}", "",
    "{less}", "{mark} x", "\t{mark}", "{mark}\u00a0",
)
_CODE_LINES = (
    "x = 1", "", "# not a heading", "## nor this", "    indented", "\ttabbed", "FENCE", "```", "~~~", "```\t", "---",
    "===", "- item", "> quote", "| a | b |", "|---|---|", "</details>", "<!--", "-->", "$$", ":::", "[ref]: /u",
    "  ", "漢字 # 😀", "trailing  ", "a\x0cb\u2028c", "/slash",
    "y" * 200,
)

_HTML: tuple[tuple[_Pair, ...], ...] = (
    # block tags, to a blank line (the specification's kind 6)
    (
        (("<div>",), ("</div>",)),
        (("<details>", "<summary>More</summary>", ""), ("", "</details>")),
        (("<table><tr><td>",), ("</td></tr></table>",)),
        (('<p align="center">',), ("</p>",)),
        (("   <section", '  class="a"', ">"), ("</section>",)),
        (("</div>",), ()),
        (("<details>",), ()),
    ),
    # raw text elements, to their end tag (1)
    (
        (("<script>",), ("</script>",)),
        (("<pre><code>",), ("</code></pre>",)),
        (("<style type='a'>",), ("</style>",)),
        (("<textarea>",), ("</textarea> after",)),
        (("<script>",), ()),
    ),
    # comments (2)
    (
        (("<!--",), ("-->",)),
        (("<!-- one line -->",), ()),
        (("<!-- a",), ("--> # after",)),
        (("<!--",), ()),
    ),
    # instructions (3)
    (
        (("<?php",), ("?>",)),
        (("<?xml version='1'?>",), ()),
        (("<?php",), ()),
    ),
    # declarations (4)
    (
        (("<!DOCTYPE html>",), ()),
        (("<!ELEMENT",), (">",)),
    ),
    # character data (5)
    (
        (("<![CDATA[",), ("]]>",)),
        (("<![CDATA[ a ]]>",), ()),
        (("<![CDATA[",), ()),
    ),
    # any complete tag alone on its line (7), and what only looks like one
    (
        (("<Tabs>",), ("</Tabs>",)),
        (("<Tabs>", '  <TabItem value="a">', ""), ("", "  </TabItem>", "</Tabs>")),
        (("<custom-element a='1' b>",), ("</custom-element>",)),
        (("</Tab>",), ()),
        (('<a href="u">',), ("</a>",)),
        (("<Card prop={() => <b>#</b>} />",), ()),
        (("<Unclosed",), ()),
        (("<>",), ("</>",)),
    ),
)

_BREAKS = (
    "---", "***", "___", "- - -", "*  *  *", "_ _ _ _", "  ---", "----------", "---\t", "*-*", "--", "    ***",
    "+++",
)

_CELLS = (
    "/", "a", "b c", "", "`x`", "a \\| b", "`a \\| b`", "**s**", "[l](u)", "&#124;", "漢字", "😀", "1,000", "<br>",
    "\\\\|",
    "z" * 90,
    "\u00a0", "# no",
)
_RULES = ("---", "---", "---", ":--", "--:", ":-:", "-", " --- ", "\t---\t", ":---:\t", " :- ")
_BAD_RULES = ("---", ":--", "", "--x", "::", " ", "- -", "\u2014")
_TABLE_LEADS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    (),
    ("A paragraph before it.",),
    ("Two", "lines"),
    ("# Heading",),
    ("- item",),
)

_MARKERS = ("-", "*", "+", "1.", "1)", "7.", "0)", "007.", "99.", "123456789.", "1234567890.", "-1.", "a.", "•")
_PADS = (" ", " ", " ", "  ", "   ", "    ", "     ", "\t", " \t", "")
_BOXES = ("", "", "", "", "[ ] ", "[x] ", "[X] ", "[ ]", "[-] ", "[ ]\t")
_ITEM_INDENTS = ("=", "=", "=", "=", "\t", "    ", "  ", "", " ", "      ")
_ITEM_GAPS: tuple[tuple[str, ...], ...] = ((), (), ("",), ("", ""), ("   ",))

_QUOTES = (
    _Wrap("> ", "> ", ">"),
    _Wrap(">", ">", ">"),
    _Wrap("> ", "", ""),
    _Wrap("> ", "> ", ""),
    _Wrap("   > ", "> ", " >"),
    _Wrap(">\t", ">\t", ">"),
    _Wrap("> > ", "> ", ">"),
    _Wrap("> ", "> ", ">", head=("> [!NOTE]",)),
    _Wrap("> ", "> ", ">", head=("> [!tip]- Folded",)),
    _Wrap(">     ", ">     ", ">"),
)
_ITEMS = (
    _Wrap("- ", "  "),
    _Wrap("* ", "  "),
    _Wrap("+ ", "  "),
    _Wrap("1. ", "   "),
    _Wrap("10) ", "    "),
    _Wrap("-\t", "\t"),
    _Wrap("- ", "\t"),
    _Wrap("- ", "    "),
    _Wrap("1. ", "\t"),
    _Wrap("  - ", "    "),
    _Wrap("   * ", "     "),
    _Wrap("-     ", "      "),
    _Wrap("- ", ""),
    _Wrap("- ", " "),
    _Wrap("- [ ] ", "  "),
    _Wrap("- [x] ", "      "),
    _Wrap("  ", "  ", head=("-",)),
    _Wrap("", "", head=("- a", "")),
    _Wrap("123456789. ", " " * 11),
    _Wrap("- - ", "    "),
    _Wrap("1. - ", "     "),
    _Wrap("- > ", "  > ", "  >"),
    _Wrap(" -\t", " \t"),
)
_HTML_WRAPS = (
    _Wrap(head=("<details>", "<summary>More</summary>", ""), tail=("", "</details>")),
    _Wrap(head=("<details open>", ""), tail=("</details>",)),
    _Wrap("  ", "  ", head=("<Tabs>", ""), tail=("", "</Tabs>")),
    _Wrap(head=("<div markdown>",), tail=("</div>",)),
    _Wrap(head=("<!--", ""), tail=("", "-->")),
    _Wrap(head=("<details>", "")),
)
_EXTENSION_WRAPS = (
    _Wrap(head=(":::note",), tail=(":::",)),
    _Wrap(head=("::: warning Title", ""), tail=("", ":::")),
    _Wrap(head=("::::tip[A *title*]{.class}",), tail=("::::",)),
    _Wrap(head=(":::note",)),
    _Wrap("  ", "  ", head=(":::{note}",), tail=(":::",)),
    _Wrap("[^1]: ", "    "),
    _Wrap("[^long-note]: ", ""),
    _Wrap("    ", "    ", head=('!!! note "Title"', "")),
    _Wrap("    ", "    ", head=('=== "Tab"', "")),
    _Wrap(head=("{{< tabs >}}", '{{% tab name="a" %}}', ""), tail=("", "{{% /tab %}}", "{{< /tabs >}}")),
    _Wrap(": ", "  ", head=("Term",)),
    _Wrap(head=("{% tabs %}",), tail=("{% endtabs %}",)),
    _Wrap(head=("{{< figure >}}",), tail=("{{< /figure >}}",)),
    _Wrap(head=("{{% note %}}", ""), tail=("{{% /note %}}",)),
    _Wrap(head=('{% hint style="info" %}',), tail=("{% endhint %}",)),
    _Wrap(head=("{{< tabs >}}", "{{% tab %}}"), tail=("{{< /tabs >}}",)),
    _Wrap("    ", "    ", head=("??? info", "")),
    _Wrap(head=(":::::outer", "", ":::inner", ""), tail=(":::", ":::::")),
    _Wrap(head=('<a id="x"></a>',)),
    _Wrap(head=("(label)=",)),
)

_LABELS = ("ref", "Ref", "text", "img", "a b", "r\ne f", "ẞ", "re\\]f", "[ref", "", "1")
_COLONS = (" ", " ", "", "\n", "  \n   ", "\t")
_TARGETS = ("/u", "<a b>", "https://x.example/#frag", "<>", "", "/a_(b)", "# heading", "/u\\ x")
_TITLES = ("", "", ' "Title"', " 'T'", "\n  (T)", '\n"two\nlines"', ' "open', ' "T" x', '\n"T" x', " ")

_MATH: tuple[_Pair, ...] = (
    (("$$",), ("$$",)),
    (("$$ a = b $$",), ()),
    (("$$x = 1",), ("y = 2$$",)),
    (("Text $$",), ("$$ more",)),
    (("$$",), ()),
    (("\\[",), ("\\]",)),
    (("   $$",), ("   $$  ",)),
    (("$$\\begin{aligned}",), ("\\end{aligned}$$",)),
    (("$$$",), ("$$$",)),
    (("$$$$",), ()),
)
_MATH_LINES = (
    "x = 1", "- x", "=", "", "---", "+ y", "# n", "a & b \\\\", "1. z", "> 0", "\\text{a $b$}", "| a |", "    w",
    "* c", "```",
)

_DIRECTIVES = (
    ":::note", ":::", "::::", ":::tip[Title]{.a}", "::: warning", "::leaf{a=b}", ":::{code-block} python",
    "::::outer", "", "text", "# Heading in it", "- item", ".. note::", "   indented",
)

_MDX = (
    "import Tabs from '@theme/Tabs';", "export const a = 1;", "export const meta = {", "  title: 'x',", "};", "",
    "import {", "  A,", "} from 'b'", "{/* comment */}", "<A.B {...props}>", "</A.B>",
    "export default function L() {", "  return <div># x</div>", "}", "# Heading between",
)

_SHORTCODES = (
    '{{< figure src="a.png" >}}', "{{< highlight go >}}", "{{< /highlight >}}", "{{% note %}}", "{{% /note %}}",
    "{{< include", '  "a.md" >}}', "# Heading", "text", "", "[TOC]", "[[_TOC_]]", "{% raw %}", "{% endraw %}",
    "<<< @/a.js", "%%",
)

_FOOTNOTES = (
    "[^1]: A note.", "    continued", "lazily", "", "[^1]: again", "[^long-note]:", "    # heading in it",
    "    - item", "[^]: none", "[^a b]: spaced", "Text[^1] and[^none].", "    ```", "*[HTML]: Hyper Text",
)

_FRONT_OPENINGS = (
    "---", "---", "---", "+++", "+++", "--- ", "---\t", "----", " ---", "```yaml", "{", "--- # c", "+++ ",
)
_FRONT_LINES = (
    "title: Alpha", "tags: [a, b]", "# a comment", "", 'title: "Quoted: yes"', "date: 2026-01-02",
    "when: 2026-01-02T03:04:05Z", "text: |", "  # not a heading", "  more", "list:", "- a", "  - b", "title: [open",
    "title: a: b", "\tkey: tab", "just words", 'title = "Alpha"', "[params]", "draft = true", "title = open",
    "title:", "title: 42", "title: {a: 1}", "a: &a [x]", "b: *a", "c: *nothing", "<<: *a",
    "!!python/object/apply:os.getcwd []", "? [complex]", ": key", "yes: no", "n: .nan", "big: 0x1F_FF", "é: 漢字 😀",
    'esc: "\\ud800"', "bell: \x07", "%YAML 1.1",
)
_FRONT_CLOSINGS = ("---", "---", "---", "+++", "+++", "...", "---  ", "", "----", " ---", "```", "}", "+++\t")
_FRONT_WHOLE: tuple[Lines, ...] = (
    ["---", "title: Alpha", "---"],
    ["---", "title: Alpha", "tags:", "  - a", "  - b", "---", ""],
    ["+++", 'title = "Alpha"', "[params]", "x = [1, 2]", "+++"],
    ["---", "---"],
    ["+++", "+++"],
    ["---", "", "---"],
    ["---", "title: Never closed"],
    ["+++", 'title = "Never closed"'],
    ["---", "", "# A heading after a rule"],
    ["---", "title: [broken", "---"],
    ["+++", "title = broken", "+++"],
    ["---", "title: One", "---", "---", "title: Two", "---"],
    ["---", "text: |", "  # no heading", "  ---", "---"],
    ["---", "a: 1", "...", "# Heading"],
    ["---"],
    ["", "---", "title: Too late", "---"],
)

_TOKENS = (
    "a", "\n", "\n\n", " ", "# ", "## ", "#", "- ", "* ", "+ ", "1. ", "1) ", "> ", ">", "    ", "\t", "```", "~~~",
    "`", "---", "===", "***", "=", "-", "|", "|-|", "| a |\n|---|\n", "a | b\n-|-\n", ":-:", "<!--", "-->", "<div>",
    "</div>", "<script>", "<?", "?>", "<![CDATA[", "]]>", "<!D", "<a>", "<Tabs>", "[a]: /u\n", "[a]:\n", "[a]",
    '"t"', "[^1]: ", "[^1]", "![", "](", ")", "$$", "$", ":::", ":::a\n", "[ ] ", "[[", "\\", "  \n", "&amp;",
    "&#0;", "**", "_", "~~", "\r\n", "\r", "+++\n", "---\n", "é", "漢", "😀", "\u200d", "\ufeff", "\u2028", "\x85",
    "\u00a0", "\x00", "\x0c", "\x0b", "/",
)

# fmt: on

# --------------------------------------------------------------------------------------------------------------------
# Strategies
# --------------------------------------------------------------------------------------------------------------------


T = TypeVar("T")

_INDEX_BASE = 0x1000
_INDEX_ROOM = 256


def _indices(room: int, *, least: int, most: int) -> SearchStrategy[str]:
    """Numbers below `room` as the characters of one string: a single choice, where a list would be two for each."""
    alphabet = st.characters(min_codepoint=_INDEX_BASE, max_codepoint=_INDEX_BASE + room - 1)
    return st.text(alphabet=alphabet, min_size=least, max_size=most)


def _picks(table: Sequence[T], *, least: int, most: int) -> SearchStrategy[list[T]]:
    """Some entries of a table, in any order; shrinks to few and early ones."""
    return _indices(len(table), least=least, most=most).map(lambda text: [table[ord(c) - _INDEX_BASE] for c in text])


def _mix(*tables: Sequence[T]) -> SearchStrategy[list[T]]:
    """One entry of each table; each shrinks to the first by itself."""
    if max(map(len, tables)) > _INDEX_ROOM:
        raise ValueError(f"a table has more than {_INDEX_ROOM} entries")
    many = len(tables)
    return _indices(_INDEX_ROOM, least=many, most=many).map(
        lambda text: [table[(ord(c) - _INDEX_BASE) % len(table)] for table, c in zip(tables, text, strict=True)]
    )


def _weighted(choices: Mapping[str, tuple[int, SearchStrategy[Lines]]]) -> SearchStrategy[Lines]:
    """One of the named strategies, as often as its weight says; it shrinks towards the first."""
    names = [name for name, (weight, _) in choices.items() for _ in range(weight)]
    return st.sampled_from(names).flatmap(lambda name: choices[name][1])


class _Grammar:
    """The strategies of one dialect, each built once and shared."""

    def __init__(self, *, extensions: bool) -> None:
        self.extensions = extensions
        words: tuple[str, ...] = (*_PLAIN_WORDS, *_PLAIN_WORDS, *_MARKED_WORDS, *_WORLD_WORDS, *_BROKEN_WORDS)
        words += (*_LONG_WORDS, *(_EXTENSION_WORDS if extensions else ()))
        plain = _picks(_PLAIN_WORDS, least=1, most=12).map(" ".join)
        mixed = st.builds(_sentence, _picks(words, least=1, most=6), _mix((" ", " ", " ", "", "  ", "\t")))
        hostile = st.text(alphabet=_HOSTILE_IN_LINE, max_size=12)
        self.inline: SearchStrategy[str] = st.one_of(plain, mixed, mixed.map(str), hostile)
        self.leaves = self._leaves()

    def _leaves(self) -> dict[str, tuple[int, SearchStrategy[Lines]]]:
        pick = st.sampled_from
        inline = self.inline
        texts = st.lists(inline, min_size=1, max_size=3)
        code = st.one_of(_picks(_CODE_LINES, least=0, most=8), st.lists(inline, max_size=3))
        paragraph = st.builds(_paragraph, _picks(_LINE_STYLES, least=1, most=4), texts)
        heading = st.builds(_atx, _mix(("",), _ATX_MARKS[:6], (" ",), ("",)), inline)
        lead, outer, cells = pick(_TABLE_LEADS), pick((True, True, False)), _picks(_CELLS, least=0, most=16)
        header = _picks(_CELLS[1:], least=1, most=4)
        reference = st.builds(_reference, _mix(_LABELS, _COLONS, _TARGETS, _TITLES))
        items = st.lists(inline.map(lambda text: [text]), min_size=1, max_size=3)
        simple_list = st.builds(_list, _mix(_MARKERS[:6], (" ",), _BOXES, ("=",), ("=",)), st.just(()), items)
        fence = st.builds(_fence, _mix(_INDENTS, _FENCE_MARKS, _INFOS, _FENCE_CLOSINGS), code)
        table = st.builds(_matched_table, lead, outer, header, _picks(_RULES, least=1, most=4), cells)
        block_items = st.lists(st.one_of(heading, fence, table), min_size=1, max_size=2)
        block_list = st.builds(_list, _mix(_MARKERS[:6], (" ",), ("",), ("=",), ("=",)), pick(_SMALL_GAPS), block_items)
        any_character = st.characters(exclude_categories=["Cs"], exclude_characters="\r\n")
        leaves: dict[str, tuple[int, SearchStrategy[Lines]]] = {
            "paragraph": (7, paragraph),
            "heading": (14, heading),
            "section": (14, st.builds(_after, heading, pick(_SMALL_GAPS), paragraph)),
            "atx": (5, st.builds(_atx, _mix(_ATX_INDENTS, _ATX_MARKS, _ATX_GAPS, _ATX_CLOSINGS), inline)),
            "odd heading": (4, pick(_ATX_LINES).map(lambda line: [line])),
            "setext": (4, st.builds(_setext, _mix(_INDENTS, _UNDERLINES), texts)),
            "simple list": (3, simple_list),
            "list of blocks": (2, block_list),
            "fence": (6, fence),
            "indented code": (2, st.builds(_indented, pick(_CODE_INDENTS), code)),
            "table": (5, table),
            "odd table": (2, st.builds(_table, lead, outer, header, _picks(_BAD_RULES, least=0, most=4), cells)),
            "html": (6, st.builds(_between, st.one_of(*map(pick, _HTML)), code)),
            "break": (2, pick(_BREAKS).map(lambda line: [line])),
            "reference": (3, reference),
            "list, then reference": (2, st.builds(_after, simple_list, pick(_SMALL_GAPS), reference)),
            "garbage": (1, st.lists(st.text(alphabet=any_character, max_size=20), min_size=1, max_size=3)),
            "hostile": (2, st.lists(st.text(alphabet=_HOSTILE_IN_LINE, max_size=16), min_size=1, max_size=4)),
        }
        if self.extensions:
            leaves |= {
                "math": (4, st.builds(_between, pick(_MATH), _picks(_MATH_LINES, least=0, most=4))),
                "directive": (2, _picks(_DIRECTIVES, least=1, most=6)),
                "mdx": (2, _picks(_MDX, least=1, most=5)),
                "shortcode": (1, _picks(_SHORTCODES, least=1, most=4)),
                "footnote": (2, _picks(_FOOTNOTES, least=1, most=4)),
                "late front matter": (1, pick(_FRONT_WHOLE).map(list)),
            }
        return leaves

    @functools.cache  # noqa: B019 - two grammars live for the whole run
    def block(self, depth: int) -> SearchStrategy[Lines]:
        """One block; a container where `depth` allows it."""
        if depth <= 0:
            return _weighted(self.leaves)
        pick = st.sampled_from
        inner = self.sequence(depth - 1, most=3)
        marked = (*_HTML_WRAPS, *(_EXTENSION_WRAPS if self.extensions else ()))
        wraps = (*_QUOTES, *_ITEMS, *marked)
        style = _mix(_MARKERS, _PADS, _BOXES, _ITEM_INDENTS, ("=", ""))
        steps = _picks((*_ITEMS, *_ITEMS, *_QUOTES), least=1, most=6)
        return _weighted(
            {
                **self.leaves,
                "list": (7, st.builds(_list, style, pick(_ITEM_GAPS), st.lists(inner, min_size=1, max_size=3))),
                "quote": (4, st.builds(_wrapped, _picks(_QUOTES, least=1, most=3), inner)),
                "marked": (5, st.builds(_wrapped, _picks(marked, least=1, most=2), inner)),
                "tower": (5, st.builds(_wrapped, _picks(wraps, least=1, most=6), inner)),
                "ladder": (5, st.builds(_ladder, steps, pick(_SMALL_GAPS), self.inline, self.block(0))),
            }
        )

    def sequence(self, depth: int, *, most: int, least: int = 1) -> SearchStrategy[Lines]:
        """Blocks below one another."""
        part = st.tuples(self.block(depth), st.sampled_from(_GAPS))
        return st.lists(part, min_size=least, max_size=most).map(_sequence)


@functools.cache
def _grammar(extensions: bool) -> _Grammar:
    return _Grammar(extensions=extensions)


def _front_matters() -> SearchStrategy[Lines]:
    """No front matter in most cases; else a typical one, or one put together from lines that fit or do not."""
    made = st.builds(_front_matter, _mix(_FRONT_OPENINGS, _FRONT_CLOSINGS), _picks(_FRONT_LINES, least=0, most=5))
    nothing: SearchStrategy[Lines] = st.builds(list)
    return st.one_of(nothing, nothing.map(list), st.sampled_from(_FRONT_WHOLE).map(list), made)


def blocks(*, depth: int = _DEPTH, extensions: bool = True) -> SearchStrategy[Lines]:
    """One block as its lines, without line ends: a leaf, or with `depth` above 0 perhaps a container."""
    return _grammar(extensions).block(depth)


def documents(*, surrogates: bool = False, extensions: bool = True, max_blocks: int = 12) -> SearchStrategy[str]:
    """Whole documents with any line ends, front matter, and odd characters anywhere.

    `surrogates` puts at least one lone surrogate in, so that the text has no UTF-8 form. Without `extensions` there
    is nothing in it that a CommonMark parser with tables would read otherwise than quire: no front matter, no byte
    order mark at the start, no math, footnotes, directives or MDX, no single tilde. `max_blocks` counts blocks at
    document level.
    """
    spike = st.tuples(st.integers(0, 2000), st.sampled_from(_ODD))
    surrogate = st.tuples(st.integers(0, 2000), st.sampled_from(_SURROGATES))
    nothing: SearchStrategy[Lines] = st.just([])
    return st.builds(
        _document,
        bom=st.sampled_from(("", "", "", "", "", "\ufeff")) if extensions else st.just(""),
        front=_front_matters() if extensions else nothing,
        body=_grammar(extensions).sequence(_DEPTH, least=0, most=max_blocks),
        ends=st.one_of(st.sampled_from((["\n"], ["\n"], ["\r\n"], ["\r"])), _picks(_ENDS, least=2, most=5)),
        final=st.sampled_from((1, 1, 0, 3)),
        spikes=st.one_of(st.just([]), st.lists(spike, min_size=1, max_size=3)),
        surrogates=st.lists(surrogate, min_size=1, max_size=4) if surrogates else st.just([]),
        extensions=st.just(extensions),
    )


def small_texts(*, max_size: int = 40) -> SearchStrategy[str]:
    """Short raw text, hostile to parsers: single characters that matter, or fragments of syntax run together.

    `max_size` counts characters in the one and fragments in the other.
    """
    characters = st.text(alphabet=_HOSTILE, max_size=max_size)
    fragments = _picks(_TOKENS, least=0, most=max_size).map("".join)
    return st.one_of(characters, fragments)
