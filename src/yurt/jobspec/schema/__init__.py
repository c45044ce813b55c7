"""Tables of the blocks of a job file: which attributes and blocks each has, and their JSON members."""
