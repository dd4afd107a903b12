"""Terminal reports of what needs no search: one trial, a diagnosis, a reproduction, releases and their source."""
