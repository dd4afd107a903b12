"""Simulated histories: what the truth is, what each run shows, and what the search must answer."""
