"""The laws: what must be true of the chunks of a document. ``quire verify`` checks them; so do the tests.

laws.py        each law, and the function that checks all of them
cut_blocks.py  the law about code and tables that were cut
"""

from quire.check.laws import laws

__all__ = ["laws"]
