"""The best layouts of a model on a machine: the whole space, timed as predict does, and ranked."""
