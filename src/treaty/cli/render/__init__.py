"""Rendering of results: for people on a console, for programs as JSON, Markdown, SARIF, JUnit or HTML."""
