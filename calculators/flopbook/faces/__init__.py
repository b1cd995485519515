"""A formula's other faces, printed from its syntax tree: JavaScript, LaTeX, dimensions, worked
steps.
"""
