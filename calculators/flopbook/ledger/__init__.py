"""What sources state, recomputed, with a verdict."""
