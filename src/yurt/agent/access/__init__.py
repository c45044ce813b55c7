"""What people may see of allocations on this node: files and logs."""
