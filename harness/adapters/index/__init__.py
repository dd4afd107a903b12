"""The package index: its address, its pages, single files of wheels. Requests to it are made here and by uv."""
