"""The HTML reports: pure functions of a finding and its evidence; one file each, nothing loaded, readable without script."""
