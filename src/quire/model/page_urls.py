"""The address of a page on the site that a documentation generator makes."""

import posixpath
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from quire.model.dialects import DIALECTS, INDEX_NAMES, ORDER, Dialect


def page_url(base_url: str, path: str | None, dialect: str | None, frontmatter: Mapping[str, Any]) -> str:
    """The address of a document's page below ``base_url`` by the rules of a generator; without one, its bare name."""
    rule = DIALECTS[dialect] if dialect else Dialect("")
    url, suffix = path or "", rule.suffix
    if suffix is not None:
        url = posixpath.splitext(url)[0]
        folder, name = posixpath.split(ORDER.sub("", url) if dialect == "docusaurus" else url)
        values = map(frontmatter.get, rule.address_keys)
        value = next((value for value in values if isinstance(value, str) and value and ":" not in value), "")
        name = value or ("" if name.lower() in INDEX_NAMES else name)
        url = posixpath.join(folder, name)
        if value.startswith("/"):  # from the root of the site
            url, suffix = value[1:], ""
        url = f"{url.lower().replace(' ', '-') if dialect == 'hugo' else url}{suffix if name else ''}"
    return f"{base_url.rstrip('/')}/{quote(url)}" if base_url else quote(url)
