"""The documents that a command or a server works on: settings, trees, the index, and bringing it up to date."""
