"""One module per command; `yurt.cli.registry` names them."""
