"""The objects of the API, one module per noun, with the members that clients show or act on."""
