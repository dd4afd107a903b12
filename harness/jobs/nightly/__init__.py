"""The nights: run the newest nightly beside a control, confirm and narrow what changed, or replay nights of the past.

Whatever fails around a night becomes part of its record and never a verdict.
"""
