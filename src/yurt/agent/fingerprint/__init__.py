"""What a machine offers: one file per source of facts, merged into a Node."""
