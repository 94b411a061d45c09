"""The command line: it parses, calls one verb of `Memory`, and renders the answer."""

from muniment.cli.app import app, main

__all__ = ["app", "main"]
