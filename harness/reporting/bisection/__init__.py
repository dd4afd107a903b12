"""Reports of a search: Markdown, HTML, JSON, JUnit, and the terminal's tables."""
