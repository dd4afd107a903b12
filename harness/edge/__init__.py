"""Where the harness touches the world: index, environments, trials, journal, files and processes."""
