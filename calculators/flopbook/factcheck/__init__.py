"""Check a number: what a text states of a chip, held against the claims on file."""
