"""The test support itself: the grammar produces what it promises, the judge is right, missing data is named."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, find, given, settings
from markdown_it.token import Token

from support import grammar, judge, shared

SAMPLE = 1000


def sample(size: int, kind: str = "documents", **options: object) -> list[str]:
    """The same texts in every run: made by a process of their own, for Hypothesis also draws on modules that are loaded."""
    command = [sys.executable, "-m", "support.sampling", kind, str(size), json.dumps(options)]
    made = subprocess.run(command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True)
    texts: list[str] = json.loads(made.stdout)
    return texts


@functools.cache
def documents() -> list[str]:
    return sample(SAMPLE)


# What the parser sees ------------------------------------------------------------------------------------------------

CONTAINERS = {"blockquote": "quote", "list_item": "item"}

HTML_KINDS = {
    "raw text element": r"<(script|pre|style|textarea)",
    "comment": r"<!--",
    "instruction": r"<\?",
    "declaration": r"<![A-Z]",
    "CDATA": r"<!\[CDATA\[",
    "block tag": r"</?(details|div|table|p|section)\b",
    "complete tag": r"</?(Tabs?|custom-element|a)\b",
}


def constructs(text: str) -> Iterator[str]:
    """Names for the constructs that a parser finds in a text, with the container that holds them directly."""
    path: list[str] = []
    for token in judge.tokens(text):
        name, _, turn = token.type.rpartition("_")
        if turn == "close":
            if name in CONTAINERS:
                path.pop()
            continue
        kind = name if turn == "open" else token.type
        if kind == "heading":
            style = "setext" if token.markup in "=-" else "atx"
            kind = f"{style} {token.tag}"
            if path:
                yield f"heading in {path[-1]}"
        yield kind
        if path:
            yield f"{CONTAINERS.get(kind, kind)} in {path[-1]}"
        if kind == "html_block":
            yield from (
                f"html: {name}" for name, start in HTML_KINDS.items() if re.match(rf" {{0,3}}{start}", token.content)
            )
        if kind == "fence":
            yield from fence_traits(token)
        if kind in CONTAINERS:
            path.append(CONTAINERS[kind])
            yield f"items {path.count('item')} deep"
            yield f"quotes {path.count('quote')} deep"
        yield from {f"inline {child.type}" for child in token.children or ()}
    yield from ("reference" for _ in judge.references(text))


def fence_traits(token: Token) -> Iterator[str]:
    yield f"fence with {token.markup[0]}"
    if len(token.markup) > 3:
        yield "long fence"
    if token.info.strip():
        yield "fence with info"
    if re.search(r"^ {0,3}#", token.content, re.MULTILINE):
        yield "fence with # inside"
    if re.search(r"^$", token.content[:-1], re.MULTILINE):
        yield "fence with blank line"


@functools.cache
def seen() -> Counter[str]:
    """In how many documents of the sample each construct occurs."""
    return Counter(name for text in documents() for name in set(constructs(text)))


@pytest.mark.parametrize(
    "name",
    [
        *(f"atx h{level}" for level in range(1, 7)),
        "setext h1",
        "setext h2",
        "paragraph",
        "bullet_list",
        "ordered_list",
        *(f"items {depth} deep" for depth in range(1, 6)),
        *(f"quotes {depth} deep" for depth in range(1, 4)),
        "quote in item",
        "item in quote",
        "heading in quote",
        "heading in item",
        "fence in quote",
        "fence in item",
        "table in quote",
        "table in item",
        "code_block in item",
        "html_block in quote",
        "code_block",
        "fence",
        "fence with `",
        "fence with ~",
        "long fence",
        "fence with info",
        "fence with # inside",
        "fence with blank line",
        "table",
        "hr",
        "reference",
        "html_block",
        *(f"html: {kind}" for kind in HTML_KINDS),
        "inline hardbreak",
        "inline softbreak",
        "inline image",
        "inline link_open",
        "inline code_inline",
        "inline html_inline",
        "inline s_open",
    ],
)
def test_documents_hold_every_construct_that_a_parser_knows(name: str) -> None:
    assert seen()[name] >= 2, f"{name} in {seen()[name]} of {SAMPLE} documents"


# What only the text shows --------------------------------------------------------------------------------------------

END = r"(?:\r\n|\r|\n|\Z)"
LINE = r"(?:\A|\r\n|\r|\n)"
PATTERNS = {
    "CRLF": r"\r\n",
    "lone CR": r"\r(?!\n)",
    "LF": r"(?<!\r)\n",
    "all line ends in one document": r"\A(?=[\s\S]*\r\n)(?=[\s\S]*[^\r]\n)[\s\S]*\r(?!\n)",
    "no final line end": r"[^\r\n]\Z",
    "nothing at all": r"\A\Z",
    "BOM at the start": r"\A\ufeff",
    "BOM at the start, then a heading": r"\A\ufeff#",
    "BOM inside": r"(?<=.)\ufeff",
    "NUL": "\x00",
    "form feed": "\x0c",
    "vertical tab": "\x0b",
    "U+2028": "\u2028",
    "U+0085": "\x85",
    "no-break space": "\u00a0",
    "emoji of several code points": "👩\u200d👩",
    "combining mark": "e\u0301",
    "CJK": "漢",
    "Thai": "ภ",
    "right to left": "[\u05d0-\u05ea]|[\u0627-\u064a]",
    "very long word": r"\w{2500}",
    "line that starts with a slash": rf"{LINE}/",
    "empty heading": rf"{LINE}##?{END}",
    "empty heading with a closing": rf"{LINE}##  ?##",
    "closed heading": rf"{LINE}#+ .*\w.* #+[ \t]*{END}",
    "heading indented by three": rf"{LINE}   # ",
    "heading lookalike, tag": rf"{LINE}#\w",
    "heading lookalike, indented by four": rf"{LINE}    #+ ",
    "heading with code": rf"{LINE}#+ .*`code`",
    "heading with a link": rf"{LINE}#+ .*\[link\]\(",
    "heading with an image": rf"{LINE}#+ .*!\[alt",
    "heading with an entity": rf"{LINE}#+ .*&amp;",
    "heading with emoji": rf"{LINE}#+ .*😀",
    "hard break by spaces": rf"\w  {END}",
    "hard break by backslash": rf"\w\\{END}",
    "tab as indentation": rf"{LINE}\t+- ",
    "item of a big number": r"123456789\. ",
    "item of too big a number": r"1234567890\. ",
    "task": r"[-*+] \[[ xX]\] ",
    "item that starts with a heading": rf"{LINE} {{0,3}}(?:[-*+]|\d+[.)]) +#+ ",
    "item that starts with a fence": rf"{LINE} {{0,3}}(?:[-*+]|\d+[.)]) +(?:```|~~~)",
    "item that starts with a table": rf"{LINE} {{0,3}}(?:[-*+]|\d+[.)]) +\|.*\|{END}",
    "item that starts with code": rf"{LINE} {{0,3}}[-*+] {{5}}",
    "callout": r"> \[!NOTE\]",
    "fence closed with a tab": rf"(```|~~~)\t+{END}",
    "no outer pipes": rf"{LINE}[ \t]*:?-+:?[ \t]*\|[ \t]*:?-+:?[^|]*{END}",
    "aligned columns": r":-:|--:",
    "escaped pipe": r"\\\|",
    "tab in a delimiter row": r"\|\t---\t\|",
    "table that interrupts a paragraph": r"A paragraph before it\.(?:\r\n|\r|\n)\|?.*(?:\r\n|\r|\n)\|?:?-+:?\|",
    "single column": rf"{LINE}\|---\|{END}",
    "details": r"<details>(?:\r\n|\r|\n)<summary>More</summary>(?:\r\n|\r|\n)(?:\r\n|\r|\n)",
    "definition on two lines": r"\[ref\]:(?:\r\n|\r|\n)",
    "definition with a title below": r"\[[^]]*\]:.*(?:\r\n|\r|\n)  \(T\)",
    "definition right after a list": rf"{LINE}(?:[-*+]|\d+[.)]) .*(?:\r\n|\r|\n)\[[^]]+\]:",
    "footnote": r"\[\^1\]: ",
    "math on one line": r"\$\$ a = b \$\$",
    "math with a list line": r"\$\$[^$]*(?:\r\n|\r|\n)- x",
    "math with an underline": r"\$\$[^$]*(?:\r\n|\r|\n)=(?:\r\n|\r|\n)",
    "directive": rf"{LINE}:::note",
    "longer directive": rf"{LINE}::::",
    "MDX import": rf"{LINE}import ",
    "MDX export": rf"{LINE}export ",
    "JSX": r"<Tabs>",
    "wiki link": r"\[\[Wiki page\]\]",
    "Hugo shortcode": r"\{\{<",
    "YAML front matter": rf"\A\ufeff?---{END}title: Alpha{END}",
    "TOML front matter": rf"\A\ufeff?\+\+\+{END}title = \"Alpha\"{END}",
    "empty front matter": rf"\A---{END}---{END}",
    "malformed front matter": rf"\A---{END}title: \[",
    "front matter that is never closed": rf"\A\ufeff?(---|\+\+\+){END}title.*Never closed(?![\s\S]*{LINE}\1)",
    "rule instead of front matter": rf"\A---{END}{END}# ",
    "syntax left open": r"\*\*open|\[open\]\(",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_documents_hold_every_construct_that_only_the_text_shows(name: str) -> None:
    pattern = re.compile(PATTERNS[name])
    assert any(pattern.search(text) for text in documents()), f"{name} in none of {SAMPLE} documents"


def test_some_fences_are_never_closed() -> None:
    def open_to_the_end(text: str) -> bool:
        lines = re.split(r"\r\n|\r|\n", text)
        fences = [token for token in judge.tokens(text) if token.type == "fence" and token.level == 0]
        return any(token.map and not lines[token.map[1] - 1].strip().startswith(token.markup) for token in fences)

    assert sum(map(open_to_the_end, documents())) >= 2


def test_headings_are_frequent_and_form_trees() -> None:
    counts = [len(judge.headings(text)) for text in documents()]
    assert sum(map(bool, counts)) > SAMPLE / 2
    assert sum(count >= 3 for count in counts) > SAMPLE / 10


def test_documents_are_unicode_text_unless_surrogates_are_asked_for() -> None:
    for text in documents():
        text.encode()
    for text in sample(50, surrogates=True):
        with pytest.raises(UnicodeEncodeError):
            text.encode()


def test_documents_without_extensions_hold_none() -> None:
    forbidden = re.compile(r"\A\ufeff|\A---|\A\+\+\+|\$|:::|\[\^|^import |^export ", re.MULTILINE)
    for text in sample(100, extensions=False):
        assert not forbidden.search(text)


def test_max_blocks_limits_a_document() -> None:
    longest = [max(map(len, sample(100, max_blocks=most, extensions=False))) for most in (0, 12)]
    assert longest[0] < 10 < longest[1]


def test_blocks_are_lines_without_ends() -> None:
    @settings(max_examples=100, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(grammar.blocks())
    def check(lines: list[str]) -> None:
        assert not any(re.search(r"[\r\n]", line) for line in lines)

    check()


SMALLEST: list[tuple[str, Callable[[str], bool], int]] = [
    ("a heading", lambda text: bool(judge.headings(text)), 12),
]


@pytest.mark.parametrize(("name", "holds", "limit"), SMALLEST, ids=[name for name, _, _ in SMALLEST])
def test_documents_shrink_to_little_more_than_the_cause(name: str, holds: Callable[[str], bool], limit: int) -> None:
    text = find(
        grammar.documents(extensions=False, max_blocks=4),
        holds,
        settings=settings(max_examples=2000, database=None, deadline=None),
        random=Random(1),
    )
    assert len(text) <= limit, f"{name}: {text!r}"


def test_small_texts_are_small_and_hold_every_significant_character() -> None:
    texts = sample(600, "small_texts")
    assert max(map(len, texts)) < 400
    assert set("#`~-=*_+>|:[]()!</\\&$ \t\n\r01aé漢😀\ufeff\u2028\x00\x0c") <= set("".join(texts))
    kinds = {token.type for text in texts for token in judge.tokens(text)}
    assert {"heading_open", "fence", "html_block", "blockquote_open", "list_item_open", "table_open", "hr"} <= kinds


# The judge -----------------------------------------------------------------------------------------------------------

CASES: list[tuple[str, str, list[tuple[int, str, int]]]] = [
    ("no headings", "text\n", []),
    ("ATX and setext", "# One\n\nTwo\n===\n\nThree\n---\n", [(1, "One", 0), (1, "Two", 2), (2, "Three", 5)]),
    (
        "all levels, seven is text",
        "".join(f"{'#' * n} h\n" for n in range(1, 8)),
        [(n, "h", n - 1) for n in range(1, 7)],
    ),
    ("closing marks", "## a ##\n## b #\n## c#\n## d \\#\n", [(2, "a", 0), (2, "b", 1), (2, "c#", 2), (2, "d #", 3)]),
    ("empty headings", "#\n##  ##\n### ###\n", [(1, "", 0), (2, "", 1), (3, "", 2)]),
    ("indentation", "   # a\n\n    # b\n", [(1, "a", 0)]),
    ("lookalikes", "#tag\n\n\\# x\n", []),
    ("markup dropped, code kept", "# *a* **b** `c  d` ~~e~~ [f](u) <b>g</b>\n", [(1, "a b c d e f g", 0)]),
    ("alt text of images", "# ![x *y* `z`](i.png)\n", [(1, "x y z", 0)]),
    ("entities and escapes", "# &amp; &#35; \\* &nope;\n", [(1, "& # * &nope;", 0)]),
    ("setext over lines", "a  \nb\\\nc\n===\n", [(1, "a b c", 0)]),
    ("white space", "#\ta \t b\u00a0c\n", [(1, "a b c", 0)]),
    ("in quotes and items", "> # q\n\n- # i\n  ## j\n\n1. x\n\n   # k\n\n# top\n", [(1, "top", 9)]),
    ("in code, HTML and comments", "```\n# a\n```\n\n    # b\n\n<div>\n# c\n</div>\n\n<!--\n# d\n-->\n", []),
    ("unclosed fence", "# a\n~~~\n# b\n", [(1, "a", 0)]),
    ("fence closed with a tab", "```\n# a\n```\t\n# b\n", [(1, "b", 3)]),
    ("CRLF", "# a\r\n\r\n# b\r\n", [(1, "a", 0), (1, "b", 2)]),
    ("lone CR", "# a\r\r# b\r", [(1, "a", 0), (1, "b", 2)]),
    ("mixed line ends", "# a\r\n# b\r# c\n# d", [(1, "a", 0), (1, "b", 1), (1, "c", 2), (1, "d", 3)]),
    ("NUL is replaced", "# a\x00b\n", [(1, "a\ufffdb", 0)]),
    ("other separators end no line", "a\u2028# b\x0c# c\x85# d\n# e\n", [(1, "e", 1)]),
    ("form feed is no space", "#\x0ca\n", []),
    ("BOM is a character", "\ufeff# a\n# b\n", [(1, "b", 1)]),
    ("front matter is text", "---\ntitle: a\n---\n", [(2, "title: a", 1)]),
    ("table, then heading", "| a |\n|---|\n| b |\n# h\n", [(1, "h", 3)]),
    ("table interrupts a paragraph", "x\na | b\n-|-\nc\n\n===\n", []),
    ("heading with a pipe above a delimiter row", "# a | b\n-|-\n", [(1, "a | b", 0)]),
    ("setext underline is no delimiter row", "| a |\n---\n", [(2, "| a |", 0)]),
    ("deeper than the preset's limit", "> " * 60 + "# q\n\n# a\n", [(1, "a", 2)]),
]


@pytest.mark.parametrize(("name", "body", "expected"), CASES, ids=[name for name, _, _ in CASES])
def test_judge_finds_the_headings(name: str, body: str, expected: list[tuple[int, str, int]]) -> None:
    assert judge.headings(body) == expected


def test_judge_sees_nesting_beyond_the_limit_of_its_preset() -> None:
    deepest = max(token.level for token in judge.tokens("> " * 60 + "# q\n"))
    assert deepest > 60


def test_judge_knows_references() -> None:
    assert judge.references("[a]: /u\n[B  c]:\n  /v\n[a]: /w\n\n[x]\n") == {"A", "B C"}


@shared.needs_shared
def test_judge_agrees_with_the_examples_of_the_specification() -> None:
    """Level by level; the text is compared where the HTML has no markup inside the heading."""
    checked = 0
    for example in shared.commonmark_examples():
        top = re.sub(r"<(blockquote|ul|ol)\b[\s\S]*</\1>", "", example["html"])
        top = re.sub(r"<pre>[\s\S]*?</pre>", "", top)
        expected = [(int(level), text) for level, text in re.findall(r"<h([1-6])>([\s\S]*?)</h\1>", top)]
        found = judge.headings(example["markdown"])
        assert [heading.level for heading in found] == [level for level, _ in expected], example["example"]
        for heading, (_, html) in zip(found, expected, strict=True):
            if not re.search(r"[<&]", html):
                assert heading.text == " ".join(html.split()), example["example"]
                checked += 1
    assert checked > 30


# Shared data ---------------------------------------------------------------------------------------------------------


@shared.needs_shared
def test_shared_documents_are_there() -> None:
    names = [name for name, data in shared.documents() if data]
    assert len(names) > 100
    assert names == sorted(names)
    assert not any(name.startswith("/") or "\\" in name for name in names)


@shared.needs_shared
def test_shared_examples_are_there() -> None:
    assert {"markdown", "html", "example", "section"} <= set(shared.commonmark_examples()[0])


def test_missing_shared_data_is_skipped_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "nowhere"
    monkeypatch.setenv("QUIRE_SHARED", str(place))
    assert shared.shared_data() is None
    reason = re.escape(f"shared data not found at {place}; set QUIRE_SHARED")
    with pytest.raises(pytest.skip.Exception, match=reason):
        next(shared.documents())
    with pytest.raises(pytest.skip.Exception, match=reason):
        shared.commonmark_examples()


def test_shared_data_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.md").write_bytes(b"# x\r\n")
    (tmp_path / "c.txt").write_bytes(b"no")
    monkeypatch.setenv("QUIRE_SHARED", str(tmp_path))
    assert shared.shared_data() == tmp_path
    assert list(shared.documents()) == [("a/b.md", b"# x\r\n")]
    with pytest.raises(pytest.skip.Exception, match=r"commonmark-0\.31\.2\.json"):
        shared.commonmark_examples()


# Profiles ------------------------------------------------------------------------------------------------------------


def test_profiles_differ_in_how_much_they_try_and_whether_it_is_new() -> None:
    profiles = [settings.get_profile(name) for name in ("quick", "ci", "fuzz")]
    assert [profile.max_examples for profile in profiles[:2]] == [25, 150]
    for profile in profiles:
        assert profile.deadline is None
        assert profile.print_blob
    assert [profile.derandomize for profile in profiles] == [True, True, False]
    assert profiles[2].database is not None
