"""Units, the operations of formulas, safe expressions, and number formats: what has no data and no
files.
"""
