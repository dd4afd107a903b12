"""Releases, the timeline a question ranges over, and which package installs which module.

Values only; the index is read elsewhere.
"""
