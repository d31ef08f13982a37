"""Document to Pieces: one file a strategy. Before: parsing/. After: finish/.

tree.py                                      needs the sections only
packed.py, flow.py, sections.py              choose runs of units
whole.py                                     a document that fits is one piece
least.py                                     what is below the minimum of flow
overlap.py                                   which sentences a piece repeats
plan.py, flatten.py, units.py, nodes.py      units, their sizes, and where the heading tree is among them
ladder.py, levels.py, reach.py               cutting what is too large
fences.py, standing.py, around.py, quoted.py   code and tables that are cut, wherever they stand
sentences.py, words.py, graphemes.py, inline.py   where prose may be cut
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from quire.pieces import Strategy


@cache
def strategy(name: str) -> Strategy:
    """The strategy with this name; its module is loaded when it is first wanted."""
    found: Strategy = getattr(import_module(f"quire.split.{name}"), name)
    return found
