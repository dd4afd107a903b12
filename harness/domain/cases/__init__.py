"""What a case says: metadata, parameters, the symptoms that it may show.

From text to a checked value; files are read elsewhere.
"""
