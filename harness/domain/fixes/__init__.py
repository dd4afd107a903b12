"""What a fix, a workaround or a claim is worth: grades and sentences. Made from verdicts and observations."""
