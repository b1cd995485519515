"""Lint: the rules of the data, what mends itself, and what has to be read again."""
