"""Two axes at once: one column per version of the other package, each a run with a journal of its own.

Nothing here prints; what is run next is chosen by `harness.domain.search.grid`.
"""
