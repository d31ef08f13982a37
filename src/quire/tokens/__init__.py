"""Text to token counts. docs/architecture.md tells what is where."""
