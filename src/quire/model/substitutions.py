r"""Template variables: their values in titles, in texts to embed and in the words of the index.

    {{es}}  {{ name | filter }}                   Elastic docs-builder, MyST, MkDocs with macros, Jekyll
    {{< param "version" >}}                       Hugo
    {% data variables.product.prodname_vscode %}  GitHub Docs and VS Code

The source and positions in it stay as they are.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta

from quire.model.patterns import pattern

Substitutions = Annotated[
    dict[str, str | int | float | dict[str, Any]],
    Meta(
        description="values of template variables, such as {{es}}, by name",
        extra={"rule": 'a table of texts, as in es = "Elasticsearch"'},
    ),
]
NO_SUBSTITUTIONS: Mapping[str, Any] = {}
_VARIABLE = pattern(
    r"""\{(?:\{(?:[<%]-?[ \t]*+param[ \t]++["'`]?(?P<param>[\w.-]++)["'`]?[ \t]*+-?[%>]"""
    r"""|-?[ \t]*+(?P<name>[\w$.][\w$.-]*+)[ \t]*+(?:\|[^{}\n]*+)?)\}\}"""
    r"""|%(?<!\{\{%)-?[ \t]*+data[ \t]++(?P<data>[\w.-]++)[ \t]*+-?%\})"""
)
_BRACES = pattern(r"\{[{%]")  # patterns that start with one character are searched faster
_IN_TITLE = pattern(
    r"(?P<code>(?P<ticks>`++).+?(?<!`)(?P=ticks)(?!`))|\{\{(?![<%])(?P<expression>[^{}]*+)\}\}|(?P<tag>(?<!\{)\{%[^{}]*?%\})"
)
_WORD = pattern(r"[\w$-]*\w")
_VARIABLE_KEYS = ("sub", "substitutions")  # the keys of front matter that have variables


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """``text`` with the values of known variables; others stay."""
    if not variables or "{" not in text:
        return text
    return _VARIABLE.sub(lambda match: variables.get(_name(match), match[0]), text)


def without_spaces(text: str, filler: str) -> str:
    """``text`` with each variable as ``{{name}}``, filled up to its length: no link has a space in its target."""
    return _VARIABLE.sub(lambda match: f"{{{{{_name(match)}}}}}".ljust(len(match[0]), filler), text)


def title_text(content: str, variables: Mapping[str, str]) -> str:
    """The content of a heading with the values of variables; of an unknown one its last word, of other tags nothing."""
    content = substitute(content, variables)
    return _IN_TITLE.sub(_last_word, content) if "{{" in content or "{%" in content else content


def used_variables(text: str, given: Mapping[str, Any], frontmatter: Mapping[str, Any]) -> dict[str, str]:
    """The values of the variables in ``text``: those of its front matter come before those that are ``given``."""
    if "{" not in text or not _BRACES.search(text):
        return {}
    tables = [frontmatter, frontmatter.get("myst")]
    of_page = [table[key] for table in tables if isinstance(table, dict) for key in _VARIABLE_KEYS if key in table]
    if not given and not of_page and "param" not in text and "page." not in text:
        return {}
    used: dict[str, str] = {}
    for match in _VARIABLE.finditer(text):
        name = _name(match)
        has_parameters = match["param"] or name.startswith("page.")  # front matter, then the parameters of the site
        tables = [*of_page, {"page": frontmatter, **frontmatter} if has_parameters else None, given]
        value = next((value for table in tables if (value := _value(table, name)) is not None), None)
        if value is not None:
            used[name] = value
    return used


def flat_values(table: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The texts and numbers of nested tables by dotted names."""
    for key, value in table.items() if isinstance(table, Mapping) else ():
        if isinstance(value, Mapping):
            yield from flat_values(value, f"{prefix}{key}.")
        elif (text := _value(table, key)) is not None:
            yield f"{prefix}{key}", text


def _value(table: Any, name: str) -> str | None:
    """The text or number of a table that has a dotted name."""
    if not isinstance(table, Mapping):
        return None
    if name in table:
        value = table[name]
        if not isinstance(value, str | int | float):
            return None
        return str(value).lower() if isinstance(value, bool) else str(value).encode("utf-8", "replace").decode()
    first, _, rest = name.partition(".")
    return _value(table.get(first), rest) if rest else None


def _name(match: re.Match[str]) -> str:
    return match["param"] or match["name"] or match["data"]


def _last_word(match: re.Match[str]) -> str:
    if match["code"]:
        return match[0]
    variable = _VARIABLE.fullmatch(match[0])
    if match["tag"] and not variable:
        return ""
    expression = _name(variable) if variable else match["expression"].partition("|")[0].partition("(")[0]
    words = _WORD.findall(expression)
    return words[-1] if words else match[0]
