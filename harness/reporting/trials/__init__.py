"""Terminal reports of questions without a search: one trial, a diagnosis, a reproduction, releases and their source."""
