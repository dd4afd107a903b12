"""The pure part: values, verdicts and the search. Imports the standard library and ``packaging`` only."""
