"""What distributions hold: which module, which version, which files. Reads wheels and RECORDs, changes nothing."""
