"""The paths of release notes, changelogs and blogs, which ``search/held_back_news.py`` ranks behind others."""

import re

from quire.model.patterns import pattern

_NEWS = pattern(
    r"""(?:^|/)(?:
        (?:[^/\s_-]+[-_\s])?(?:release[-_\s]?notes?|relnotes?|change[-_\s]?logs?)(?:[-_\s.]?(?:v?\d|archive)[^/]*|\.d)?
      | what[-_'\s]*s[-_\s]?new(?:[-_\s.]?(?:v?\d|in\b|for\b)[^/]*)?
      | (?:blog|news|releases|announcements|_posts)(?=/)
      | (?:blogs|updates)/v?\d[^/]*
      | (?:19|20)\d\d(?:/[01]\d(?=/)|([-_.])[01]\d\1[0-3]\d(?!\d)[^/]*$)
      | (?-i:CHANGES|HISTORY|NEWS)
    )(?:/|(?:\.\w+)?$)""",
    re.VERBOSE | re.IGNORECASE,
)


def is_news(path: str) -> bool:
    """Whether a path is that of release notes, a changelog or a blog."""
    return _NEWS.search(path) is not None
