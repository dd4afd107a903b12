"""The pure core: values and the functions over them.

Imports the standard library and ``packaging``; no clock, disk, process or network.
"""
