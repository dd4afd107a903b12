"""One module per command; each parses, wires and prints."""
