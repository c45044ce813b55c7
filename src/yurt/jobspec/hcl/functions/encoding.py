"""Functions that encode and decode text."""

import base64
import binascii
import csv
import io
from urllib.parse import quote_plus

from yurt.jobspec.hcl.function import CallError, Parameter, Registry
from yurt.jobspec.hcl.functions.json_text import json_text, json_value
from yurt.jobspec.hcl.functions.yaml_text import YAMLError, yaml_text, yaml_value
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.values import ANY, STRING, ListValue, ObjectType, Value

FUNCTIONS = Registry()

_STR = Parameter("str", STRING)
_YAML_CHARACTERS_PER_STEP = 4  # our reader is written in Python


@FUNCTIONS.add("jsonencode", Parameter("val", ANY, may_be_null=True))
def _jsonencode(value: Value) -> str:
    return json_text(value)


@FUNCTIONS.add("jsondecode", _STR)
def _jsondecode(text: str) -> Value:
    return json_value(text)


@FUNCTIONS.add("yamlencode", Parameter("value", ANY, may_be_null=True))
def _yamlencode(value: Value) -> str:
    return yaml_text(value)


@FUNCTIONS.add("yamldecode", Parameter("src", STRING), takes_meter=True)
def _yamldecode(meter: Meter, text: str) -> Value:
    meter.charge(len(text) // _YAML_CHARACTERS_PER_STEP)
    try:
        return yaml_value(text)
    except YAMLError as error:
        raise CallError(str(error)) from None


@FUNCTIONS.add("csvdecode", _STR)
def _csvdecode(text: str) -> ListValue:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise CallError(f"invalid CSV: {error}") from None
    rows = [row for row in rows if row]
    if not rows:
        raise CallError("missing header line")
    header, *lines = rows
    if len(set(header)) < len(header):
        raise CallError("duplicate column name in the header line")
    for number, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise CallError(f"wrong number of fields in line {number}: {len(line)} instead of {len(header)}")
    kind = ObjectType({name: STRING for name in header})
    return ListValue(tuple(dict(zip(header, line, strict=True)) for line in lines), kind)


@FUNCTIONS.add("base64encode", _STR)
def _base64encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@FUNCTIONS.add("base64decode", _STR)
def _base64decode(text: str) -> str:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise CallError(f"failed to decode base64 data '{text}'") from None
    try:
        return data.decode()
    except UnicodeDecodeError:
        # The doubled word is Nomad's.
        raise CallError("the result of decoding the the provided string is not valid UTF-8") from None


@FUNCTIONS.add("urlencode", _STR)
def _urlencode(text: str) -> str:
    return quote_plus(text)
