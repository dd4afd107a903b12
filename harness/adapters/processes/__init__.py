"""Child processes: started, bounded, ended, and what they inherit. `process` is the only module that starts any."""
