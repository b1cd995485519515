"""Kernels and roofs as people write them, and the work of a kernel: what `roofline` draws and lists."""
