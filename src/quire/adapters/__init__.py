"""quire inside other frameworks: one module per framework. Nothing else in quire imports them."""
