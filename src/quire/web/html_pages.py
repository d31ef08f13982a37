"""``quire web --export``: a page that needs no server, with one document cut by every strategy."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from quire import __version__
from quire.model.document import Finding
from quire.model.options import STRATEGIES, Options
from quire.output.chunk_json import to_json
from quire.web import chunk_view

MARK = "· quire</title>".encode()  # what every page has


@cache
def asset(name: str) -> bytes:
    """The page, its style or its script."""
    return files(__package__).joinpath("assets", name).read_bytes()


def export_page(
    text: str, path: str, strategy: str, options: Mapping[str, Any], findings: Iterable[Finding] = ()
) -> bytes:
    """The page with the chunks of ``text``: as ``options`` say, and by the other strategies with their defaults."""
    cuts, records = {}, {}
    common = {key: options[key] for key in options if key in (*Options.__struct_fields__, "title")}
    for name in STRATEGIES:
        chunks = chunk_view.cut(text, path, name, **(options if name == strategy else common))
        cuts[name] = {**chunk_view.cut_record(chunks), "violations": chunk_view.violations(chunks)}
        records[name] = [chunk_view.chunk_record(chunk) for chunk in chunks]
    document = chunk_view.document_record(chunk_view.parsed(text, path, options), findings)
    defaults = {"strategy": strategy, **chunk_view.page_options(options)}
    start = {"version": __version__, "defaults": defaults, **chunk_view.option_table()}
    data = to_json({"start": start, "document": document, "cuts": cuts, "records": records})
    # Nothing in the data can end the script element that it is in.
    data = data.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")
    style, script = asset("inspector.css"), asset("inspector.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    title = escape(document["title"] or path)
    parts = {
        b"<!-- policy -->": f'<meta http-equiv="Content-Security-Policy" content="{policy}">'.encode(),
        b"icon.svg": b"data:image/svg+xml;base64," + b64encode(asset("icon.svg")),
        b"<title>quire</title>": f"<title>{title} · quire</title>".encode("utf-8", "replace"),
        b'<link rel="stylesheet" href="inspector.css">': b"<style>%b</style>" % style,
        b'<script src="inspector.js" defer></script>': b"",
        b"</body>": b'<script type="application/json" id="data">%b</script>\n<script>%b</script>\n</body>'
        % (data, script),
    }
    page = asset("inspector.html")
    for old, new in parts.items():
        page = page.replace(old, new, 1)
    return page


def _hash(content: bytes) -> str:
    return f"sha256-{b64encode(sha256(content).digest()).decode()}"
