"""Arrays on meshes of devices: the named-axis notation, the block of each device, and products.

A mesh is a dict of axes and their sizes, `{"X": 4, "Y": 8}`; devices are numbered with the last
axis fastest.
"""
