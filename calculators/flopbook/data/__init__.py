"""The data as records: readers of YAML and BibTeX, each file checked once, with a place for every
problem.
"""
