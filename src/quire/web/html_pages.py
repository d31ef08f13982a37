"""Pages that need no server: one document cut by every strategy, and the figures of ``quire stats`` and ``quire eval``.

The pages with figures have plots as SVG and no script.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from quire import __version__
from quire.errors import InputError
from quire.model.document import Finding
from quire.model.options import STRATEGIES, Options
from quire.output.atomic_file import new_file
from quire.output.chunk_json import to_json
from quire.web import chunk_view

_WIDTH, _HEIGHT, _BASE = 360, 150, 118
_LABEL = 250  # where the axis of an interval plot starts
_ROW = 26
_MARK = "· quire</title>".encode()  # what every page has


@cache
def asset(name: str) -> bytes:
    """The page, its style or its script."""
    return files(__package__).joinpath("assets", name).read_bytes()


def write_page(target: Path, page: bytes) -> str:
    """Write a page to a file and say so; a file that is no page of quire is refused."""
    is_new = not target.is_file()
    if not is_new and _MARK not in target.read_bytes():
        raise InputError(str(target), "exists and is not a page of quire", "remove it, or choose another file")
    with new_file(target) as stream:
        stream.write(page)
    return f"{'wrote' if is_new else 'replaced'} {target}"


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


def stats_page(result: Mapping[str, Any], rows: Iterable[Sequence[str]]) -> bytes:
    """The figures that ``quire stats --json`` prints, and the lines of its table."""
    strategies: Mapping[str, Any] = result["strategies"]
    plots = "".join(
        f"<div><h3>{escape(name)}</h3>{_histogram(figures['histogram'], figures['range'] or {}, name)}</div>"
        for name, figures in strategies.items()
    )
    skipped = f", {result['skipped']:,} skipped" if result["skipped"] else ""
    body = (
        f'<p class="meta">{result["documents"]:,} documents, {result["characters"]:,} characters{skipped}. '
        f'Sizes are tokens of the text to embed.</p><h2>Sizes</h2><div class="plots">{plots}</div>'
    )
    return _report("Strategies compared", f"{body}<h2>Figures</h2>{_table(['figure', *strategies], rows)}")


def eval_page(result: Mapping[str, Any], labels: Mapping[str, str]) -> bytes:
    """The figures that ``quire eval --json`` prints; ``labels`` has their names. Those up to 1 are plotted."""
    figures: Mapping[str, Mapping[str, float | None]] = result["figures"]
    shares = [(labels[name], figure) for name, figure in figures.items() if (figure["high"] or 0) <= 1]
    rows = [
        [labels[name], *(_decimal(figure[part]) for part in ("value", "low", "high"))]
        for name, figure in figures.items()
    ]
    source = "the documents' own links" if result["source"] == "links" else str(result["source"])
    misses = [
        [miss["query"], miss["rank"] or "not found", miss["first"] or "nothing", ", ".join(miss["answers"])]
        for miss in result["misses"]
    ]
    body = (
        f'<p class="meta">{result["questions"]:,} questions from {escape(source)}. Bars are 95 % intervals.</p>'
        f"<h2>Found</h2>{_intervals(shares)}<h2>Figures</h2>{_table(['Figure', 'value', 'from', 'to'], rows)}"
    )
    head = ("Query", "Rank", "First result", "Right")
    missed = f"<h2>First result wrong</h2>{_table(head, misses)}" if misses else ""
    return _report("How well the documents answer", body + missed)


def _report(title: str, body: str) -> bytes:
    style = asset("inspector.css")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · quire</title>
<style>{style.decode()}</style>
</head>
<body class="report">
<div role="main">
<h1>{escape(title)}</h1>
{body}
</div>
</body>
</html>
""".encode()


def _table(head: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    first = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = "".join(
        f"<tr><td>{escape(str(name))}</td>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    inside = f"<table><thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table">{inside}</div>'


def _histogram(bars: Sequence[Mapping[str, int]], limits: Mapping[str, Any], name: str) -> str:
    """Bars of equal width for sizes that double, with a line at the minimum and at the cap."""
    most = max((bar["chunks"] for bar in bars), default=0) or 1
    width = _WIDTH / max(len(bars), 1)
    lines = {kind: limits[key] for kind, key in (("minimum", "min"), ("cap", "max")) if limits.get(key)}
    parts = [_line("axis", 0, _WIDTH, _BASE, _BASE)]
    for kind, value in lines.items():
        index, bar = next(((index, bar) for index, bar in enumerate(bars) if value <= bar["to"]), (len(bars), None))
        share = (value - bar["from"] + 1) / (bar["to"] - bar["from"] + 1) if bar else 0.0
        parts.append(_line(f"limit {kind}", (index + share) * width, (index + share) * width, 4, _BASE))
    for index, bar in enumerate(bars):
        left, top = index * width, _BASE - bar["chunks"] / most * (_BASE - 22)
        title = f"<title>{bar['chunks']:,} chunks of {bar['from']}–{bar['to']} tokens</title>"
        if bar["chunks"]:
            size = f'width="{width - 4:.1f}" height="{_BASE - top:.1f}"'
            parts.append(f'<rect class="column" x="{left + 2:.1f}" y="{top:.1f}" {size} rx="2">{title}</rect>')
            parts.append(_tick(left + width / 2, top - 4, f"{bar['chunks']:,}", "middle"))
        parts.append(_tick(left + width, _BASE + 14, f"{bar['to']:,}", "end"))
    keys = "".join(f'<span class="key {kind}">{kind} {value:,}</span>' for kind, value in lines.items())
    svg = _svg(f"Sizes of the chunks of {name}", _WIDTH, _HEIGHT, parts)
    return f'<figure class="histogram">{svg}<figcaption>{keys or "no cap"}</figcaption></figure>'


def _intervals(rows: Sequence[tuple[str, Mapping[str, float | None]]]) -> str:
    span, height = 640 - _LABEL - 60, len(rows) * _ROW + 24
    parts = []
    for index, (label, figure) in enumerate(rows):
        y = index * _ROW + 16
        value, low, high = (_LABEL + (figure[part] or 0.0) * span for part in ("value", "low", "high"))
        point = f'<circle class="point" cx="{value:.1f}" cy="{y}" r="5"/>'
        number = _tick(_LABEL + span + 14, y + 4, _decimal(figure["value"]))
        parts += [_tick(0, y + 4, label), _line("interval", low, high, y, y), point, number]
    parts.append(_line("axis", _LABEL, _LABEL + span, height - 18, height - 18))
    parts += [_tick(_LABEL + share * span, height - 4, f"{share:g}", "middle") for share in (0, 0.5, 1)]
    return _svg("Figures with their intervals", 640, height, parts)


def _line(kind: str, left: float, right: float, top: float, bottom: float) -> str:
    return f'<line class="{kind}" x1="{left:.1f}" x2="{right:.1f}" y1="{top}" y2="{bottom}"/>'


def _tick(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(label: str, width: int, height: int, parts: Iterable[str]) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value > 1 else f"{value:.3f}"
