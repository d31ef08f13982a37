"""Links of documents: where they lead, which are broken, and the slug rule under which they lead somewhere."""
