"""What differs from a revision, and the history of values."""
