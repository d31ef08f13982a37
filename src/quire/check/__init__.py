"""The laws: what must be true of the chunks of a document. ``quire verify`` checks them; so do the tests."""

from quire.check.laws import laws

__all__ = ["laws"]
