"""Builds the site: content from data, notebooks, then a site generator.

Not shipped with the package.
"""
