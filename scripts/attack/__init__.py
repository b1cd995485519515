"""Attacks on the project by itself: hostile data, prose, files, networks and moments.

Everything runs on this machine; what must not be reached listens on 127.0.0.2.
"""
