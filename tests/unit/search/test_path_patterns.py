"""Which documents a pattern means."""

from __future__ import annotations

import pytest

from quire.search.conditions import literal_pattern, matches_path


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("guides/**", "guides/auth.md", True),
        ("guides", "guides/auth.md", True),
        ("guides", "api/guides/auth.md", True),
        ("guides", "guidesx/auth.md", False),
        ("/guides", "api/guides/auth.md", False),
        ("guides/", "guides/auth.md", True),
        ("guides/", "guides", False),
        ("*.md", "guides/auth.md", True),
        ("auth.md", "guides/auth.md", True),
        ("guides/*.md", "guides/auth.md", True),
        ("guides/*.md", "guides/more/auth.md", False),
        ("guides/*", "guides/more/auth.md", True),
        ("**/auth.md", "auth.md", True),
        ("**/auth.md", "a/b/auth.md", True),
        ("a?c.md", "abc.md", True),
        ("a?c.md", "a/c.md", False),
        ("[!b].md", "a.md", True),
        ("[!b].md", "b.md", False),
        ("./a.md", "a.md", True),
        ("docs:guides/*", "guides/auth.md", True),
        ("api:guides/*", "guides/auth.md", False),
        ("a.b", "axb", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches_path("docs", path, [pattern]) is expected


@pytest.mark.parametrize("path", ["a[1].md", "what?.md", "50*2/x.md", "plain.md"])
def test_an_escaped_path_means_itself(path: str) -> None:
    assert matches_path("docs", path, [literal_pattern(path)])
    assert not matches_path("docs", f"x/{path}", [literal_pattern(path)])


def test_any_of_several_patterns_is_enough() -> None:
    assert matches_path("docs", "a.md", ["b.md", "a.md"])
    assert not matches_path("docs", "a.md", [])
