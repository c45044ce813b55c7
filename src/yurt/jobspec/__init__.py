"""Nomad job files (HCL2 and JSON) read into the API's job JSON."""
