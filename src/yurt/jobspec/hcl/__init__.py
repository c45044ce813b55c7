"""HCL, the configuration language of job files: parser, evaluator, diagnostics.

Knows nothing of jobs. `parse` gives the syntax tree of a file in HCL2, `literal_body` the values of a
file in the older syntax without expressions.
"""

from yurt.jobspec.hcl.diagnostics import Diagnostic, HCLError
from yurt.jobspec.hcl.literal import LiteralBody, LiteralValue, literal_body
from yurt.jobspec.hcl.parser import parse
from yurt.jobspec.hcl.source import Position, Range, Source
from yurt.jobspec.hcl.syntax import Attribute, Block, Body

__all__ = [
    "Attribute",
    "Block",
    "Body",
    "Diagnostic",
    "HCLError",
    "LiteralBody",
    "LiteralValue",
    "Position",
    "Range",
    "Source",
    "literal_body",
    "parse",
]
