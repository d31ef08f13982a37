"""Source to Document: the stage that knows Markdown. docs/architecture.md tells its steps, and what is where."""
