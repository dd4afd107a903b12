"""What is known of each release, how sure that is, and which trial to run next.

Pure functions of the verdicts so far.
"""
