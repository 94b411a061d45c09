"""Threads: short-term state, and views of it.  Pure: no store, no recall."""
