"""Stories told in steps, each with what must be seen: behaviour as data."""
