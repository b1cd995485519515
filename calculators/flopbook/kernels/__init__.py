"""Kernels as people write them, with the roofs of the chips on which they run."""
