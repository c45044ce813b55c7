"""The part of Go's text/template that people use with `-t`: fields, pipelines, if, with, range, functions.

It works on decoded JSON. Named templates (`define`, `template`, `block`) are not supported.
"""

from yurt.cli.go_template.evaluate import render
from yurt.cli.go_template.nodes import TemplateError

__all__ = ["TemplateError", "render"]
