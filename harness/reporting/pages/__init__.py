"""The HTML reports: pure functions of a finding and its evidence: one file each, readable without script."""
