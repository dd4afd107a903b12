"""What lies behind a transition: the changed lines that make it. Pure values and their sentences."""
