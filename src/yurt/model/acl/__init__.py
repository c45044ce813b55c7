"""Who may do what: rules, and the things that carry them."""
