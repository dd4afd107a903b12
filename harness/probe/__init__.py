"""Runs inside the target environment: standard library, NumPy and what the target has, nothing of harness.

Python 3.9 and later. It reads one request file and writes one result file per trial, atomically.
"""
