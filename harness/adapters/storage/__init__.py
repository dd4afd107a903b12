"""Files of the harness: cache, journals, reports, case files. Whatever is written here is whole or absent."""
