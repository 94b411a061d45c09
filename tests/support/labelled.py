"""Labelled turns that the gate decides as they are labelled: what a broken twin departs from."""

from pathlib import Path

TURNS = Path(__file__).with_name("turns.yaml")
