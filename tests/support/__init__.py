"""What the tests share: random Markdown, an independent judge of headings, and the data kept beside the repository."""
