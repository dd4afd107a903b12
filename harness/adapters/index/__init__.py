"""The package index: pages, addresses, single files of wheels. Only these modules ask it over the network."""
