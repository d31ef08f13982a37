"""Text to query tree: what is syntax, what is text, where each word stands, and that any text is read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import quire
from quire.errors import QueryError
from quire.model.document import Span
from quire.model.query_tree import Either, Group, Not, Phrase, Query, Word, leaves
from quire.search.query_syntax import parse, show
from support.shared import needs_shared, shared_data

NOWHERE = Span(0, 0)


def word(text: str, **more: Any) -> Word:
    return Word(text=text, span=NOWHERE, **more)


def phrase(text: str, **more: Any) -> Phrase:
    return Phrase(text=text, span=NOWHERE, **more)


def bare(query: Query | None) -> Query | None:
    """A tree without its spans."""
    match query:
        case Group(items=items) | Either(items=items):
            return type(query)(items=tuple(item for each in items if (item := bare(each))))
        case Not(item=item) if inner := bare(item):
            return Not(item=inner)
        case Word() | Phrase():
            return replace(query, span=NOWHERE)
    return None


def read(query: str) -> Query | QueryError | None:
    """What a query means, or why not."""
    try:
        return parse(query)
    except QueryError as error:
        return error


# Syntax


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("a", word("a")),
        ("a b", Group(items=(word("a"), word("b")))),
        ('"a  b"', phrase("a b")),
        ('x -"a b"', Group(items=(word("x"), Not(item=phrase("a b"))))),
        ("x -word", Group(items=(word("x"), Not(item=word("word"))))),
        ("a OR b OR c", Either(items=(word("a"), word("b"), word("c")))),
        ("a b OR c", Either(items=(Group(items=(word("a"), word("b"))), word("c")))),
        ("a (b OR c)", Group(items=(word("a"), Either(items=(word("b"), word("c")))))),
        ("tree:x", word("x", field="tree")),
        ("x^2.5", word("x", boost=2.5)),
        ("x*", word("x", prefix=True)),
        ("x -(a b)", Group(items=(word("x"), Not(item=Group(items=(word("a"), word("b"))))))),
    ],
)
def test_tree(query: str, tree: Query) -> None:
    assert bare(parse(query)) == tree


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        # a field or boost in front of a group stands on its leaves
        ("title:(a b)", "title:a title:b"),
        ("title:(a OR b) c", "(title:a OR title:b) c"),
        ('body:(a "b c"^2 d*)^3', 'body:a^3 body:"b c"^6 body:d*^3'),
        ("(a (b OR c)^2)^0.5", "a^0.5 (b OR c)"),
        ("x -title:(a OR b)", "x -(title:a OR title:b)"),
        ("x title:(-draft -old)", "x -title:draft -title:old"),
        ("x -title:draft", "x -title:draft"),
        ("x title:-draft", "x -title:draft"),
        ("path:guides/auth.md#oauth", "path:guides/auth.md#oauth"),
        ('path:"my docs/a.md"', 'path:"my docs/a.md"'),
        ("title:title:x", "title:title:x"),
        ("title:OR", "title:OR"),
        ("title:conf*^2", "title:conf*^2"),
        ("x (OR^0.5)^2", "x OR^1"),
        ("x title:(:y) -title:-word", "x title:(:y) -title:-word"),
        ("a OR b :)", "a OR b"),
        ("word^+2", "word^2"),
        ("word^1e1", "word^10"),
        ("word^.5", "word^0.5"),
        ('"a b"^2.', '"a b"^2'),
        # flat
        ("a OR (b OR (c OR d))", "a OR b OR c OR d"),
        ("(a (b (c)))", "a b c"),
        ("((a OR b))", "a OR b"),
        ("(a b) OR (c d)", "(a b) OR (c d)"),
        ("a -(b -word)", "a -(b -word)"),
        ("a (-word)", "a -word"),
        ("(-word) a", "-word a"),
        # side by side without a space
        ('"a b""c d"', '"a b" "c d"'),
        ('"a b"c(d OR e)f', '"a b" c (d OR e) f'),
        ('"a"-word', '"a" word'),
        ("(a OR b)-word", "(a OR b) word"),
        ("foo(a OR b)", "foo (a OR b)"),
        ("a OR(b c)", "a OR (b c)"),
        ("x -(go) -(a=b)", "x -(go) -(a=b)"),
        ("x -c++ -日本 -_private -🚀", "x -c++ -日本 -_private -🚀"),
    ],
)
def test_syntax(query: str, shown: str) -> None:
    assert show(parse(query)) == shown


# Text


@pytest.mark.parametrize(
    "query",
    [
        "C++", "C#", "1.0.21", "my_var", "real-time", "std::vector", "foo(bar)", "f()", "f(g(x),y)", "V(D)J", "file(s)",
        "http://a.b/c?d=e", "https://en.wikipedia.org/wiki/A_(b)", "key:value", "Title:value", "tag:x", "10:30", "x^y", "2^10",
        "10.5^2", "HEAD^", "HEAD^^", "HEAD~2", "word^x", "word^1.2.3", "^2", "--help", "--no-cache=x", "-d", "-rf", "-it,", "-1", "-0.5",
        "-std=c++17", "-foo=bar", "->", "**bold**", "*italic*", "a*b*", "*args", "**kwargs", "*.md", "src/*", "a*b", "foo**", "AND", "and", "or", "Or", "NOT",
        "not", "body::before", "path::new", "@user", "#tag", "$HOME", "a|b", "a&&b", "{title:x}", "[a](b)", '27"', "it's", "don’t", "“so”",
        "🚀", "👩‍💻", "日本語", "全文検索。", "ภาษาไทย", "हिन्दी", "عربي", "é", "e\u0301", "\ue000", "𝒳", "C:\\Users\\me", "a\\b", "\\n",
        "What is V(D)J recombination, as detailed in the texts?", "docker run -d -p 80:80 --rm", "IF NOT EXISTS", "a, b; c. d! e? f: g",
    ],
)  # fmt: skip
def test_text_is_read_as_it_is(query: str) -> None:
    tree = parse(query)
    assert tree is not None
    assert [leaf.text for leaf in leaves(tree)] == query.split()
    assert all(isinstance(leaf, Word) and not leaf.prefix and leaf.field is None for leaf in leaves(tree))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("OR", "OR"),
        ("NOT x", "NOT x"),
        ("what's \"x", "what's x"),
        ('"""docstring"""', 'docstring"""'),
        ('""quoted""', 'quoted""'),
        ("a - b", "a b"),
        ("- a\n- b", "a b"),
        ("a -- b", "a b"),
        ("rm -rf /", "rm -rf"),
        ("(re)start", "re start"),
        ("(see above", "see above"),
        ("1) a 2) b", "1 a 2 b"),
        ("max(-value, 0)", "max value, 0"),
        ("(a+b)^n", "a+b ^n"),
        ("the (((deep))) end", "the deep end"),
        ("what does () mean", "what does mean"),
        ("x -() -?", "x"),
        ('x -"..." (?)', "x"),
        ("title: my page", "title my page"),
        ("what is a tree:)", "what is a tree"),
        ("title:? x", "title x"),
        ("see body:\n  text", "see body text"),
        ("a\0b\x1fc\ud800d\u3000e\u200bf", "a b c d e f"),
        ("\ufeffa", "a"),
    ],
)
def test_text_loses_only_punctuation(query: str, words: str) -> None:
    tree = parse(query)
    assert tree is not None
    assert [leaf.text for leaf in leaves(tree)] == words.split()


@pytest.mark.parametrize(
    "query",
    ["", " \n\t", "?", ":", "-", "--", "*", "**", "/", ":)", "()", "...", "\\", '"', '"""', "\0", "\udfff", "( )"],
)
def test_nothing_to_look_for(query: str) -> None:
    assert parse(query) is None
    assert show(parse(query)) == ""


# Mistakes


@pytest.mark.parametrize(
    ("query", "caret", "message"),
    [
        ("(a OR b", "^", "this bracket is not closed"),
        ("a (b (c) OR d", "  ^", "this bracket is not closed"),
        ("x title:(a b", "        ^", "this bracket is not closed"),
        ("x -(a b", "   ^", "this bracket is not closed"),
        ('title:"a b', "      ^", "this quote is not closed"),
        ('x -"a b', "   ^", "this quote is not closed"),
        ("-word", "^", "the query has only exclusions"),
        ("-word -other", "^", "the query has only exclusions"),
        ("? title:(-word)", "         ^", "the query has only exclusions"),
        ("a OR -word", "     ^", "the query has only exclusions"),
        ("-word OR a", "^", "the query has only exclusions"),
        ("a -(-word)", "    ^", "the query has only exclusions"),
        ("title:(a path:b)", "         ^", "path: is inside title:( )"),
        ("title:(a -path:b)", "          ^", "path: is inside title:( )"),
    ],
)  # fmt: skip
def test_mistake(query: str, caret: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)
    error = caught.value
    assert error.message.startswith(message)
    assert (error.query, error.position) == (query, caret.index("^"))
    assert str(error).splitlines() == [error.message, f"  {query}", f"  {caret}"]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ('Descendant combinator (" ")', "Descendant combinator"),
        ('x ""', "x"),
        ('what is "eventual consistency"*', 'what is "eventual consistency"'),
        ('"a"^"b"', '"a" ^"b"'),
        ("logical OR", "logical OR^1"),
        ("OR word", "OR^1 word"),
        ("a OR OR b", "(a OR^1) OR b"),
        ("Portland (OR) a", "Portland OR^1 a"),
        ("a) this OR b) that", "(a this) OR (b that)"),
        ("what is path:", "what is path"),
        ("tags:() x", "tags x"),
        ("git show HEAD^0", "git show HEAD^0"),
        ("kg m^-1 s^-2", "kg m^-1 s^-2"),
        ("x^1e999 (a b)^101", "x^1e999 a b ^101"),
        ("(a^20 b)^20", "a^100 b^20"),
    ],
)
def test_plain_text_is_no_mistake(query: str, shown: str) -> None:
    assert show(parse(query)) == shown


def test_the_mistake_in_a_long_query_is_shown_with_what_is_around_it() -> None:
    query = "first line\n" + "much " * 100 + '-"no\n' + "last line"
    with pytest.raises(QueryError) as caught:
        parse(query)
    _, line, caret = str(caught.value).splitlines()
    assert line == "  …" + ("much " * 10)[1:] + '-"no last line'
    assert line[caret.index("^")] == '"'


@pytest.mark.parametrize(("query", "column"), [('日本 -"a', 6), ('e\u0301\t\ud800 -"a', 5), ('🚀 -"a', 4)])
def test_the_caret_stands_below_its_character(query: str, column: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)
    _, line, caret = str(caught.value).splitlines()
    assert line.isprintable()
    assert caret == " " * (2 + column) + "^"


def test_the_error_is_public_and_can_be_sent_to_another_process() -> None:
    import pickle  # noqa: PLC0415

    with pytest.raises(quire.QueryError) as caught:
        parse("(a OR b")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == (str(caught.value), 0)


# Size


@pytest.mark.parametrize("deep", ["(", "-(", "title:(", "(a OR ", '("', "f(", "((-"])
@pytest.mark.parametrize("end", ["", ")"])
def test_any_depth_is_read_or_refused(deep: str, end: str) -> None:
    query = "x " + deep * 10_000 + "a" + end * 10_000
    found = read(query)
    assert 0 < found.position < len(query) if isinstance(found, QueryError) else show(found)


def test_brackets_that_change_nothing_may_be_as_deep_as_they_like() -> None:
    assert show(parse("(" * 10_000 + "a b" + ")" * 10_000)) == "a b"
    for brackets in ("(" * 20_000 + "a " * 20_000, "(a " * 20_000):  # each bracket has all the items behind it
        assert len(parse(brackets + ")" * 20_000).items) == 20_000
    with pytest.raises(QueryError, match="more than 50 deep"):
        parse("(a OR b " * 51 + ")" * 51)


def test_a_group_of_each_allowed_depth() -> None:
    query = "(a OR b " * 50 + ")" * 50
    tree = parse(query)
    assert tree is not None
    assert sum(1 for _ in leaves(tree)) == 100
    assert bare(parse(show(tree))) == bare(tree)


@pytest.mark.parametrize(
    "part",
    [
        "word ", "a", "(", ")", '"', '""', '"a"', '"a" ', "-", "--", "-a", "-word ", "title:", "title:a ", "^", "^2", "a^2 ", "a^", "*", "a* ",
        "a(b)", "f(", "OR ", "a OR ", "?", "9", ".", "=", "日", "e\u0301", "\ud800", "\n", "-title:(a ", "x (", ") ", "a^99",
    ],
)  # fmt: skip
def test_a_large_paste_is_read_or_refused(part: str) -> None:
    """50 KB each: what is not linear would be noticed here."""
    query = "x " + part * (50_000 // len(part))
    found = read(query)
    assert len(str(found)) < 500 if isinstance(found, QueryError) else show(found)


# Laws

ALPHABET = st.one_of(
    st.sampled_from([
        "a", "word", "OR", "or", " ", "  ", "\n", '"', "(", ")", "-", "--", "^", "^2", "^0.1", "*", "title:", "path:", "tree:", ":", "::", "=",
        ".", "?", "10", "-d", "f(x)", "日本", "é", "🚀", "\0", "\ud800", "_", "+", ",", "(a OR b)", '"x y"', "-(", "title:(", "->", "\ufeff",
    ]),
    st.characters(),
)  # fmt: skip
QUERIES = st.lists(ALPHABET, max_size=25).map("".join) | st.text(max_size=40)


@given(QUERIES)
def test_what_is_shown_means_the_same(query: str) -> None:
    tree = read(query)
    if isinstance(tree, QueryError):
        return
    shown = show(tree)
    assert "\n" not in shown
    assert bare(parse(shown)) == bare(tree)
    assert show(parse(shown)) == shown


@given(QUERIES)
def test_spans_point_at_the_words(query: str) -> None:
    tree = read(query)
    if tree is None:
        return
    if isinstance(tree, QueryError):
        assert 0 <= tree.position <= len(query)
        return
    wanted = list(leaves(tree))
    assert wanted == sorted(wanted, key=lambda leaf: leaf.span)
    for leaf in (*wanted, *refused(tree)):
        typed = query[leaf.span.start : leaf.span.end]
        if isinstance(leaf, Word):
            assert typed == leaf.text
        else:
            assert typed[0] == typed[-1] == '"'
            assert all(part in typed[1:-1] for part in leaf.text.split())


def refused(tree: Query) -> Iterator[Word | Phrase]:
    """The words and phrases that must not match."""
    if isinstance(tree, Not):
        yield from leaves(tree.item)
    elif isinstance(tree, Group | Either):
        for item in tree.items:
            yield from refused(item)


@given(QUERIES)
def test_shape_of_the_tree(query: str) -> None:
    tree = read(query)
    if tree is not None and not isinstance(tree, QueryError):
        check(tree)


def check(tree: Query) -> None:
    """No group in one of its kind, and something to look for beside each negation."""
    assert not isinstance(tree, Not)
    if isinstance(tree, Group | Either):
        assert len(tree.items) > 1
        for item in tree.items:
            assert type(item) is not type(tree)
            if isinstance(item, Not):
                assert isinstance(tree, Group)
                check(item.item)
            else:
                check(item)
        assert not all(isinstance(item, Not) for item in tree.items)
    else:
        assert tree.text.strip() == tree.text != ""
        tree.text.encode()
        assert 0.01 <= tree.boost <= 100


@given(st.text(st.characters(exclude_characters='"()-^*:')).filter(lambda text: "OR" not in text))
def test_text_without_syntax_is_all_words(text: str) -> None:
    tree = parse(text)
    if tree is not None:
        words = list(leaves(tree))
        assert all(word == Word(text=word.text, span=word.span) for word in words)
        assert bare(tree) == (
            bare(words[0]) if len(words) == 1 else Group(items=tuple(replace(w, span=NOWHERE) for w in words))
        )


@given(QUERIES.map(lambda text: text.replace('"', "")).filter(lambda text: text.strip("\ufeff \n")))
def test_quotes_make_anything_text(text: str) -> None:
    tree = read(f'"{text}"')
    if isinstance(tree, QueryError):
        assert tree.message.startswith("this phrase is empty")
    else:
        assert tree is None or isinstance(tree, Phrase)


@needs_shared
def test_real_questions_are_words() -> None:
    place = shared_data()
    assert place is not None
    with (place / "chroma" / "questions.csv").open(encoding="utf-8", newline="") as file:
        asked = [row["question"] for row in csv.DictReader(file)]
    asked += [json.loads(line)["query"] for line in (place / "linkqa" / "docker.jsonl").read_text("utf-8").splitlines()]
    assert len(asked) > 1900
    for query in asked:
        tree = parse(query)
        assert tree is not None
        assert not any(leaf.field or leaf.boost != 1 for leaf in leaves(tree))
        assert list(refused(tree)) == []
