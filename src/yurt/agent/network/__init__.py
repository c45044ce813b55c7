"""Networks of allocations: namespaces of their own, set up by CNI plugins."""
