"""The laws: whether chunks are what they should be. Behind ``quire verify``; the tests run it on random documents.

laws.py  each law, and the one function that asks them all
cuts.py  the law about code and tables that were cut
"""

from quire.check.laws import laws

__all__ = ["laws"]
