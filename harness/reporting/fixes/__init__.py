"""Reports of ``verify-fix`` and ``workarounds``."""
