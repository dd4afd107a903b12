"""Reports: pure functions of a finding, one module per format."""
