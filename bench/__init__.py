"""The project's figures, and the harness that prints them: ``python -m bench``."""
