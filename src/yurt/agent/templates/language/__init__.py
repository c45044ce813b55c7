"""The template language of job files: Go's `text/template`, read and run with limits."""

from yurt.agent.templates.language.errors import ExecutionFailed, ParseFailed, TemplateFailed
from yurt.agent.templates.language.evaluator import execute
from yurt.agent.templates.language.function import Function, FunctionFailed, function
from yurt.agent.templates.language.parser import ParsedTemplate, parse_template

__all__ = [
    "ExecutionFailed",
    "Function",
    "FunctionFailed",
    "ParseFailed",
    "ParsedTemplate",
    "TemplateFailed",
    "execute",
    "function",
    "parse_template",
]
