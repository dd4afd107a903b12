"""The files that a bug reporter has, and what follows from their text: how they are run, and what is under test.

From source text alone; files are read elsewhere.
"""
