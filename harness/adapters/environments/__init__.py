"""Interpreters, companions, locks and the sealed environments that nox and uv build from them."""
