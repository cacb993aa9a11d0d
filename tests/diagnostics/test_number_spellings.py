# SPDX-License-Identifier: Apache-2.0
"""Numbers in the spellings of other languages have the same codes and fixes everywhere."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import fix_of, syntax_errors
from tests.diagnostics.models import G, H, node, value

SIGN, POINT = "number-plus-sign", "number-without-zero"
SEPARATOR, SUFFIX, HEX = "number-separator", "number-suffix", "number-hex"
TYPE, RANGE = "attribute-type-mismatch", "integer-out-of-range"

ATTRIBUTE = node("  y = Op <a = %s> (x)")
INT = node("  y = Op <a: int = %s> (x)")
FLOAT = node("  y = Op <a: float = %s> (x)")
INTS = node("  y = Op <a: ints = [1, %s]> (x)")
FLOATS = node("  y = Op <a: floats = [1, %s]> (x)")
INTS_OR_FLOATS = node("  y = Op <a = [1, %s]> (x)")
LIST = node("  y = Op <a = [%s]> (x)")
ATTRIBUTE_ROW = node("  y = Op <a = int64[2] [1, %s]> (x)")
REPEATED = node("  y = Op <a: ints[9] = [1, %s, ...]> (x)")
INT_ROW = value("int64[2] w = [1, %s]")
INT_DATA = value("int64[2] w = {1, %s}")
FLOAT_ROW = value("float[2, 1] w = [[1], [%s]]")
HALF_ROW = value("float16[2] w = [1.0, %s]")
HALF = value("float16 w = %s")
HALF_DATA = value("float16[2] w = {1.0, %s}")
HALF_DATA_AFTER_BITS = value("float16[2] w = {1, %s}")
DOUBLE = value("double w = %s")
DOUBLES = value("double[2] w = [1, %s]")
COMPLEX = value("complex64[1] w = [%s]")
DIM = value("float[N, %s] w")
VERSIONS = H.replace("21", "%s") + G + "  y = Op (x)\n}\n"
VERSION = H.replace("10", "%s") + G + "  y = Op (x)\n}\n"
RECORD = node("  y = Op (x)") + "configuration c {num_devices: %s}\n"
SCALAR = value("uint64 w = %s")
FLAG = value("bool w = %s")

SAFE = [
    (VERSION, "0x10", HEX, "16"),
    *((place, "0X10", HEX, "16") for place in (ATTRIBUTE, INT, INTS, VERSIONS, RECORD)),
    *((place, "1_000", SEPARATOR, "1000") for place in (INTS, INT_DATA, VERSIONS, RECORD)),
    *((place, "1f", SUFFIX, "1") for place in (INT, INTS, REPEATED, INT_ROW, VERSIONS)),
    *((place, "1.0f", SUFFIX, "1") for place in (INT, INTS, REPEATED)),
    (ATTRIBUTE_ROW, "2f", SUFFIX, "2"),
    *((place, "1.0f", SUFFIX, "1.0") for place in (ATTRIBUTE, FLOATS, LIST, HALF_DATA)),
    *((place, "10L", SUFFIX, "10") for place in (ATTRIBUTE, INT_ROW, RECORD)),
    *((place, "+5", SIGN, "5") for place in (ATTRIBUTE, DIM)),
    (ATTRIBUTE, "+.5", SIGN, "0.5"),
    (ATTRIBUTE, "-.5", POINT, "-0.5"),
    *((place, "True", "python-literal", "1") for place in (INTS, LIST, REPEATED, SCALAR)),
    (FLAG, "True", "python-literal", "true"),
]
UNSAFE = [
    *((place, "0x10", HEX, "16") for place in (ATTRIBUTE, INT, FLOAT, INTS, FLOATS, LIST)),
    *((place, "0x10", HEX, "16") for place in (REPEATED, FLOAT_ROW, COMPLEX, DIM, VERSIONS)),
    (DIM, "0X10", HEX, "16"),
    (INTS, "-0xff", HEX, "-255"),
    *((place, "0b101", "syntax-error", "5") for place in (ATTRIBUTE, INTS, INT_ROW, VERSIONS)),
    (INT, "-0o17", "syntax-error", "-15"),
    (DIM, "1_000", SEPARATOR, "1000"),
    *((place, "1,000", SEPARATOR, "1000") for place in (ATTRIBUTE, INT, VERSION)),
    *((place, "-1,000.5", SEPARATOR, "-1000.5") for place in (ATTRIBUTE, FLOAT)),
    *((place, "1f", SUFFIX, "1.0") for place in (ATTRIBUTE, FLOAT, FLOATS, LIST)),
    *((place, "-1f", SUFFIX, "-1.0") for place in (ATTRIBUTE, FLOAT, FLOATS, LIST)),
    (DIM, "1f", SUFFIX, "1"),
    (DIM, "10L", SUFFIX, "10"),
    *((place, "+5", SIGN, "5") for place in (INTS, FLOATS, INT_DATA, VERSIONS)),
    *((place, "+5", SIGN, "5.0") for place in (HALF_ROW, HALF_DATA, HALF_DATA_AFTER_BITS, HALF)),
    *((place, "5f", SUFFIX, "5.0") for place in (HALF_ROW, HALF_DATA, HALF_DATA_AFTER_BITS, HALF)),
    *((place, "5_0", SEPARATOR, "50.0") for place in (HALF_DATA, HALF_DATA_AFTER_BITS, HALF)),
    *((place, "+.5", SIGN, "0.5") for place in (FLOATS, FLOAT_ROW, COMPLEX)),
    *((place, "+inf", SIGN, "inf") for place in (FLOATS, LIST, FLOAT_ROW, HALF_ROW)),
    *((place, "-.5", POINT, "-0.5") for place in (FLOATS, LIST, FLOAT_ROW, HALF_ROW)),
    *((place, "1e3", TYPE, "1000") for place in (INT, REPEATED)),
    *((place, "1e3", "syntax-error", "1000") for place in (INTS, INT_ROW, INT_DATA, DIM, VERSIONS)),
    *((place, "5.", "syntax-error", "5") for place in (INTS, INT_ROW, VERSIONS)),
]


@pytest.mark.parametrize(
    ("text", "spelling", "code", "written", "applicability"),
    [*((*row, "safe") for row in SAFE), *((*row, "unsafe") for row in UNSAFE)],
)
def test_numbers_in_other_spellings(
    text: str, spelling: str, code: str, written: str, applicability: str
) -> None:
    (error,) = syntax_errors(text % spelling)
    start = text.index("%s")
    assert (error.code, error.labels[0].span) == (code, (start, start + len(spelling)))
    assert fix_of(error).apply(text % spelling) == text % written
    assert fix_of(error).applicability == applicability


@pytest.mark.parametrize(
    ("text", "row", "code", "written", "applicability"),
    [
        (LIST, ".5, .5", POINT, "0.5, 0.5", "safe"),
        (LIST, "1f, -2f", SUFFIX, "1.0, -2.0", "unsafe"),
        (INTS, "1_000, 3, 2_000", SEPARATOR, "1000, 3, 2000", "safe"),
        (value("double[3] w = {%s}"), ".5, 1e3,.5", POINT, "0.5, 1e3,0.5", "safe"),
        (value("float16[2] w = {%s}"), "5f, 5.5f", SUFFIX, "5.0, 5.5", "unsafe"),
        (value("float[3] w = {%s}"), ".5, 1e400, .5", POINT, "0.5, 1e400, 0.5", "unsafe"),
        (value("float[3] w = [%s]"), ".5, 1e400, .5", POINT, "0.5, 1e400, 0.5", "unsafe"),
        (value("float[9] w = [%s]"), ".5, .5", POINT, "0.5, 0.5", "unsafe"),
        (value("float[3] w = [%s]"), ".5, 1f, .5", POINT, "0.5, 1, 0.5", "safe"),
        (value("float[3] w = [%s]"), ".5, +1, .5", POINT, "0.5, 1, 0.5", "safe"),
        (LIST, ".5, 1f, .5", POINT, "0.5, 1.0, 0.5", "unsafe"),
        (LIST, "1_000, 2L, 1_000", SEPARATOR, "1000, 2, 1000", "safe"),
        (value("int64[3] w = {%s}"), "1_000, +5, 1_000", SEPARATOR, "1000, 5, 1000", "safe"),
        (LIST, ", ".join([".5"] * 1000), POINT, ", ".join(["0.5"] * 1000), "safe"),
    ],
)
def test_errors_in_a_row_have_one_fix(
    text: str, row: str, code: str, written: str, applicability: str
) -> None:
    (error,) = syntax_errors(text % row)
    assert error.code == code
    assert fix_of(error).applicability == applicability
    assert fix_of(error).apply(text % row) == text % written


def test_a_row_of_errors_ends_at_another_kind_of_error() -> None:
    text = value("int64[3] w = {%s}")
    first, *_ = syntax_errors(text % "1_000, 2.5, 1_000")
    assert fix_of(first).applicability == "unsafe"
    assert fix_of(first).apply(text % "1_000, 2.5, 1_000") == text % "1000, 2.5, 1_000"


@pytest.mark.parametrize(
    ("text", "number", "code"),
    [
        (INTS, "0xffffffffffffffff", HEX),  # the decimal number is out of range
        *((INTS_OR_FLOATS, f"{number}f", SUFFIX) for number in ("1", "2.0", "2e3", "2.5")),
    ],
)
def test_a_number_gets_no_fix_that_leaves_an_error(text: str, number: str, code: str) -> None:
    (error,) = syntax_errors(text % number)
    assert (error.code, error.fix) == (code, None)
    assert error.help is None or number not in error.help


@pytest.mark.parametrize(
    ("versions", "message", "help"),
    [
        ("- 5", "`- 5` is not an opset version", "write the sign directly before the digits"),
        ("21, ,2", "an opset version is missing", "write an integer"),
    ],
)
def test_invalid_opset_versions_are_explained(versions: str, message: str, help: str) -> None:
    (error,) = syntax_errors(VERSIONS % versions)
    assert (error.message, error.help) == (message, help)


def test_a_whole_dimension_with_a_point_is_one_dimension() -> None:
    text = value("float[%s] w")
    (error,) = syntax_errors(text % "3.0")
    assert fix_of(error).apply(text % "3.0") == text % "3"


def test_a_reference_has_no_sign() -> None:
    call = "  y = Elu <a: float = %salpha> (x)\n"
    text = f'{H}{G}  y = Op (x)\n}}\n<domain: "d">\nf <alpha> (x) => (y) {{\n{call}}}\n'
    (error,) = syntax_errors(text % "&")
    assert error.help == "write `@alpha`"
    (error,) = syntax_errors(text % "-")
    assert error.help != "write `@alpha`"


@pytest.mark.parametrize("text", [DIM, VERSIONS, INTS, FLOAT_ROW, RECORD])
def test_the_message_about_a_suffix_names_no_type(text: str) -> None:
    (error,) = syntax_errors(text % "5f")
    assert error.message == "a number cannot have a suffix"


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        *((place, "0x7fc00001") for place in (FLOAT, FLOATS, FLOAT_ROW)),
        *((place, "0x7ff8000000000001") for place in (DOUBLES, DOUBLE)),
    ],
)
def test_hexadecimal_integers_may_be_the_bits_of_a_nan(text: str, bits: str) -> None:
    (error,) = syntax_errors(text % bits)
    help = f"write `{int(bits, 16)}` for the value or `nan({bits})` for the bits of a nan"
    assert (error.code, error.help, error.fix) == (HEX, help, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (INTS, "expected -9223372036854775808 to 9223372036854775807, found"),
        (REPEATED, "the integer does not fit in 64 bits"),
        (value("uint64[1] w = {%s}"), "expected 0 to 18446744073709551615, found"),
        (value("uint64[1] w = [%s]"), "expected 0 to 18446744073709551615, found"),
        (value("uint8[1] w = {%s}"), "expected 0 to 255, found"),
        (value("int4[1] w = {%s}"), "expected -8 to 7, found"),
        (value("bool[1] w = {%s}"), "expected 0 to 1, found"),
        (value("bfloat16[1] w = {%s}"), "expected 0 to 65535, found"),
        (VERSIONS, "the integer does not fit in 64 bits"),
    ],
)
def test_integers_out_of_range(text: str, message: str) -> None:
    (error,) = syntax_errors(text % "99999999999999999999")
    assert error.code == RANGE
    assert error.message.startswith(message)


def test_a_number_in_quotes_is_not_the_value_of_an_int() -> None:
    (error,) = syntax_errors(INT % '"3"')
    assert (error.code, error.help) == (TYPE, "write the number without quotes: `3`")


@pytest.mark.parametrize(("written", "fixed"), [("1, 2", "[1, 2]"), ("1,200", "[1,200]")])
def test_the_last_attribute_may_be_a_list_without_brackets(written: str, fixed: str) -> None:
    (error,) = syntax_errors(ATTRIBUTE % written)
    assert fix_of(error).apply(ATTRIBUTE % written) == ATTRIBUTE % fixed


@pytest.mark.parametrize("dims", ["2.0 3", "0x2 3", "N 0x3", "2 3.0"])
def test_dimensions_in_other_spellings_are_not_split(dims: str) -> None:
    (error,) = syntax_errors(f"g (float[{dims}] x) => (float[2, 3] y) {{ y = Relu (x) }}")
    assert error.message == f"`{dims}` is not a dimension"
    assert error.fix is None
