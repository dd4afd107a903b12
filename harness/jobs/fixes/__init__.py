"""Verify fixes over a range, a release that is said to be the fix, and what reports recommend and claim.

Each starts its trials through the executor, records them in a journal of its own, and can be resumed.
"""
