"""Native syntax: what parses to what, and where errors point."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.jobspec.hcl import HCLError, parse
from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX, SOURCE_CHARACTERS_MAX
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import Expression, Operation, Reference, Template, TemplateWrap, Text


def expression(text: str) -> Expression:
    return parse(f"a = {text}\n", filename="t.hcl").attributes["a"].expr


def problem(text: str) -> str:
    with pytest.raises(HCLError) as caught:
        parse(text, filename="t.hcl")
    assert caught.value.is_syntax
    return str(caught.value)


def test_attributes_and_blocks_keep_names_labels_and_places() -> None:
    body = parse('top = 1\nblock "one" two {\n  inner = "x"\n}\n', filename="t.hcl")

    assert list(body.attributes) == ["top"]
    [block] = body.blocks
    assert (block.type, [label.text for label in block.labels]) == ("block", ["one", "two"])
    assert str(block.type_range()) == "t.hcl:2,1-6"
    assert str(block.body.attributes["inner"].range()) == "t.hcl:3,3-14"


def test_columns_count_visible_characters() -> None:
    body = parse('a = ["é", "👨‍👩‍👧", x]\n', filename="t.hcl")

    expr = body.attributes["a"].expr
    assert str(body.source.range(expr.end - 1, expr.end)) == "t.hcl:1,17-18"


def test_a_byte_order_mark_is_not_a_character() -> None:
    assert list(parse("\ufeffa = 1\n", filename="t.hcl").attributes) == ["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('"plain"', "plain", id="plain"),
        pytest.param('"a $b 5% $"', "a $b 5% $", id="dollar and percent alone"),
        pytest.param(r'"\n\t\r\"\\"', '\n\t\r"\\', id="escapes"),
        pytest.param(r'"\u00e9\U0001F600"', "é😀", id="code points"),
        pytest.param('"$${a} %%{b}"', "${a} %{b}", id="escaped sequences"),
        pytest.param("<<EOT\n a\n  b\nEOT", " a\n  b\n", id="heredoc"),
        pytest.param("<<-EOT\n  a\n    b\n\n  EOT", "a\n  b\n\n", id="flush heredoc"),
        pytest.param("<<-EOT\n\ta\n  b\n  EOT", "a\n b\n", id="a tab counts as one blank"),
        pytest.param("<<EOT\n$${a}\\n\nEOT", "${a}\\n\n", id="no backslash escapes in heredocs"),
        pytest.param("<<EOT\nEOT", "", id="empty heredoc"),
        pytest.param("<<EOT\nx\n   EOT  ", "x\n", id="terminator with blanks around it"),
        pytest.param("<<EOT\r\na\r\nEOT", "a\r\n", id="carriage returns are kept"),
    ],
)
def test_strings_without_sequences_are_text(text: str, value: str) -> None:
    expr = expression(text)
    assert isinstance(expr, Text)
    assert expr.value == value


def test_a_string_of_one_interpolation_is_a_wrap() -> None:
    assert isinstance(expression('"${a}"'), TemplateWrap)
    assert isinstance(expression('"${a} "'), Template)
    assert isinstance(expression('"${"${"x"}"}"'), TemplateWrap)


def test_operators_of_one_precedence_form_one_node() -> None:
    expr = expression("1 + 2 - 3 * 4")
    assert isinstance(expr, Operation)
    assert len(expr.rest) == 2
    assert isinstance(expr.rest[1].expr, Operation)


def test_constant_steps_belong_to_the_reference() -> None:
    expr = expression('a.b["c"][0].1.2.d')
    assert isinstance(expr, Reference)
    assert len(expr.steps) == 6


def test_newlines_inside_brackets_and_sequences_mean_nothing() -> None:
    parse('a = [\n1,\n2\n,]\nb = f(\n1,\n2\n)\nc = (\n1\n+\n2\n)\nd = "${\n1\n}"\n', filename="t.hcl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = \n", "t.hcl:1,5-2,1: Invalid expression; Expected the start of an expression"),
        ("a =", "t.hcl:1,4-4: Missing expression; "),
        ("a = 1 2\n", "t.hcl:1,7-8: Missing newline after argument; "),
        ("a {\n} b {\n}\n", "t.hcl:2,3-4: Missing newline after block definition; "),
        ("a\n", "t.hcl:1,1-2: Argument or block definition required; "),
        ('"a" = 1\n', "t.hcl:1,1-4: Invalid argument name; "),
        ("a b\n{\n}\n", "t.hcl:1,4-2,1: Invalid block definition; "),
        ('a "${b}" {\n}\n', "t.hcl:1,4-6: Invalid string literal; "),
        ("a { b { } }\n", "t.hcl:1,5-6: Invalid single-argument block definition; "),
        ("a {\n  b {\n  }\n", "t.hcl:1,3-4: Unclosed configuration block; "),
        ("a { b = 1", "t.hcl:1,3-4: Unclosed configuration block; "),
        ("a = [1, 2", "t.hcl:1,5-6: Unterminated tuple constructor expression; "),
        ("a = { b = 1\n", "t.hcl:1,5-6: Unterminated object constructor expression; "),
        ("a = [1 2]\n", "t.hcl:1,8-9: Missing item separator; "),
        ("a = { b.c = 1 }\n", "t.hcl:1,7-10: Ambiguous attribute key; "),
        ("a = f(1 2)\n", "t.hcl:1,9-10: Missing argument separator; "),
        ("a = (1\n", "t.hcl:2,1-1: Unbalanced parentheses; "),
        ("a = b ? c\n", "t.hcl:1,10-2,1: Missing false expression in conditional; "),
        ("a = [for x : x]\n", "t.hcl:1,12-13: Invalid 'for' expression; "),
        ("a = b.\n", "t.hcl:1,7-2,1: Invalid attribute name; "),
        ("a = b[1\n", "t.hcl:2,1-1: Missing close bracket on index; "),
        ('a = "x\n"\n', "t.hcl:1,7-2,1: Invalid multi-line string; "),
        ('a = "x', "t.hcl:1,7-7: Unterminated template string; "),
        ('a = "${x', "t.hcl:1,6-8: Unclosed template sequence; "),
        ('a = "${x y}"\n', "t.hcl:1,10-11: Extra characters after template expression; "),
        ('a = "%{ if x }y"\n', "t.hcl:1,6-15: Unclosed template directive; "),
        ('a = "%{ endif }"\n', "t.hcl:1,6-16: Unexpected template directive; "),
        ('a = "%{ while }"\n', 't.hcl:1,9-14: Invalid template directive; "while" is not'),
        (r'a = "\q"' + "\n", 't.hcl:1,6-8: Invalid escape sequence; The symbol "q" is not'),
        (r'a = "\u12"' + "\n", "t.hcl:1,6-8: Invalid escape sequence; "),
        (
            "a = 1 & 2\n",
            "t.hcl:1,7-8: Unsupported operator; Bitwise operators are not supported. Did you mean",
        ),
        ("a = 'x'\n", "t.hcl:1,5-6: Invalid character; Single quotes are not valid."),
        ("a = 1;\n", "t.hcl:1,6-7: Invalid character; The"),
        ("/* a\n", "t.hcl:1,1-2: Unterminated comment; "),
        ("a = 1e99999\n", "t.hcl:1,5-12: Invalid number; "),
    ],
)
def test_syntax_errors_say_where_and_what(text: str, message: str) -> None:
    assert problem(text).startswith(message)


def test_a_diagnostic_shows_its_line() -> None:
    with pytest.raises(HCLError) as caught:
        parse("a = 1\n\tb = !\n", filename="t.hcl")

    [diagnostic] = caught.value.diagnostics
    assert diagnostic.with_source_line().splitlines()[1:] == ["  \tb = !", "  \t     ^"]


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
        "a = " + "[" * 5000,
        "a = " + "!" * 5000 + "true\n",
        "a = " + "1 ? 1 : " * 5000 + "1\n",
        "a = x" + "[*]" * 5000 + "\n",
        'a = "' + '${"' * 5000,
        'a = "' + "%{ if true }" * 5000 + '"\n',
        "a {\n" * 5000,
        "a = " + "{b=" * 5000,
    ],
)
def test_deep_nesting_is_an_error_not_a_crash(text: str) -> None:
    assert f"at most {NESTING_DEPTH_MAX} levels" in problem(text)


def test_long_flat_expressions_are_fine() -> None:
    expr = expression("+".join(["1"] * 20_000))
    assert isinstance(expr, Operation)
    assert isinstance(expression("a" + ".b" * 20_000), Reference)


def test_a_text_that_is_too_long_is_refused() -> None:
    assert "Text too long" in problem("#" * (SOURCE_CHARACTERS_MAX + 1))


def test_positions_of_an_embedded_text_start_at_its_origin() -> None:
    outer = Source("ab\n  cd", "t.hcl")
    inner = Source("x\ny", "t.hcl", origin=outer.position(5))
    assert (str(inner.range(0, 1)), str(inner.range(2, 3))) == ("t.hcl:2,3-4", "t.hcl:3,1-2")


FRAGMENTS = st.sampled_from(
    [
        *'{}[]()="$%~<>.,:?!*/+-&|\\\n \t0aé',
        *(
            "${",
            "%{",
            "~}",
            "<<E\n",
            "\nE\n",
            "<<-E\n",
            "if ",
            "for ",
            "in ",
            "endif",
            "else",
            "endfor",
            "...",
        ),
        *("=>", "x = ", 'b "l" {\n', "}\n", "#", "/*", "*/", "null", "1e9", '"s"'),
    ]
)


@given(st.one_of(st.text(), st.lists(FRAGMENTS, max_size=40).map("".join)))
def test_any_text_parses_or_is_refused_with_a_place(text: str) -> None:
    error = refusal(text)
    assert error is None or str(error).startswith("t.hcl:")


def refusal(text: str) -> HCLError | None:
    try:
        parse(text, filename="t.hcl")
    except HCLError as error:
        return error
    return None
