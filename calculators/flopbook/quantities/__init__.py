"""Units, number formats, the operations of formulas and safe expressions: no data, no files."""
