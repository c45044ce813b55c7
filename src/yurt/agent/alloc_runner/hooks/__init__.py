"""The steps around an allocation's run, a file each."""
