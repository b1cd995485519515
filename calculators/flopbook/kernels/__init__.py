"""Kernels: as people write them, with the roofs of chips, and the bytes of those that work in
tiles.
"""
