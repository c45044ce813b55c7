"""What people and agents can ask of the servers, whatever dialect they speak."""
