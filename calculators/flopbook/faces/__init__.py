"""What is printed from a formula's syntax tree: JavaScript, LaTeX, dimensions, worked steps."""
