"""Terminal reports of what is asked without a search: one trial, a diagnosis, a reproduction, releases and their source."""
