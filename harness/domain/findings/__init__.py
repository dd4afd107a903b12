"""The question, its run and the answer: transitions, caveats, conclusion. Made from the journal's entries alone."""
