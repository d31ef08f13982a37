"""The exit codes of a command that did not simply succeed, as of grep."""

NOTHING_FOUND = 1  # or a check failed
ERROR = 2
INTERRUPTED = 130  # by Ctrl-C
