"""SVG by hand: a few shapes, and colours that can be read on light and on dark. Used by peers/plot.py, curves.py."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.small { font-size: 11px; } .quiet { fill: #59636e; } .title { font-size: 15px; font-weight: 600; }
.own { fill: #0969da; } .other { fill: #afb8c1; } .good { fill: #1a7f37; } .bad { fill: #cf222e; }
.axis { stroke: #d1d9e0; } .line { fill: none; stroke-width: 2; }
.s0 { stroke: #0969da; } .s1 { stroke: #bc4c00; } .s2 { stroke: #1a7f37; } .s3 { stroke: #8250df; }
.f0 { fill: #0969da; } .f1 { fill: #bc4c00; } .f2 { fill: #1a7f37; } .f3 { fill: #8250df; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .quiet { fill: #9198a1; }
.own { fill: #4493f8; } .other { fill: #656c76; } .good { fill: #3fb950; } .bad { fill: #f85149; }
.axis { stroke: #3d444d; }
.s0 { stroke: #4493f8; } .s1 { stroke: #f0883e; } .s2 { stroke: #3fb950; } .s3 { stroke: #ab7df8; }
.f0 { fill: #4493f8; } .f1 { fill: #f0883e; } .f2 { fill: #3fb950; } .f3 { fill: #ab7df8; }
}
"""


def picture(width: int, height: int, title: str, shapes: Iterable[str]) -> str:
    """A whole file; ``title`` is what a screen reader says."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [f'{head} role="img">', f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *shapes, "</svg>", ""]
    return "\n".join(lines)


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text; ``anchor`` says which end of it stands at ``x``."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A filled rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height:.1f}" rx="2" class="{kind}"/>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A thin line, for axes."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="axis"/>'


def curve(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A line through ``points``."""
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="line {kind}"/>'
