"""From a transition to the lines that make it: subsets of the difference between two trees are run. Jobs only."""
