"""What is run (variants, trials) and what happened (observations). Facts only: nothing here says good or bad."""
