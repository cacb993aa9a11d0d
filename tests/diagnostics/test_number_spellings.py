# SPDX-License-Identifier: Apache-2.0
"""Numbers in the spellings of other languages have the same codes and fixes everywhere."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import syntax_errors
from tests.diagnostics.models import G, H, node, value

SIGN, POINT = "number-plus-sign", "number-without-zero"
SEPARATOR, SUFFIX, HEX = "number-separator", "number-suffix", "number-hex"
TYPE, RANGE = "attribute-type-mismatch", "integer-out-of-range"

ATTRIBUTE = node("  y = Op <a = %s> (x)")
INT = node("  y = Op <a: int = %s> (x)")
FLOAT = node("  y = Op <a: float = %s> (x)")
INTS = node("  y = Op <a: ints = [1, %s]> (x)")
FLOATS = node("  y = Op <a: floats = [1, %s]> (x)")
LIST = node("  y = Op <a = [%s]> (x)")
REPEATED = node("  y = Op <a: ints[9] = [1, %s, ...]> (x)")
INT_ROW = value("int64[2] w = [1, %s]")
INT_DATA = value("int64[2] w = {1, %s}")
FLOAT_ROW = value("float[2, 1] w = [[1], [%s]]")
HALF_ROW = value("float16[2] w = [1.0, %s]")
COMPLEX = value("complex64[1] w = [%s]")
DIM = value("float[N, %s] w")
VERSIONS = H.replace("21", "%s") + G + "  y = Op (x)\n}\n"
VERSION = H.replace("10", "%s") + G + "  y = Op (x)\n}\n"
RECORD = node("  y = Op (x)") + "configuration c {num_devices: %s}\n"
SCALAR = value("uint64 w = %s")
FLAG = value("bool w = %s")

SPELLINGS = [
    *((place, "0x10", HEX, "16") for place in (ATTRIBUTE, INT, FLOAT, INTS, FLOATS, LIST)),
    *((place, "0x10", HEX, "16") for place in (REPEATED, FLOAT_ROW, COMPLEX, DIM, VERSIONS)),
    *((place, "0x10", HEX, "16") for place in (VERSION,)),
    *((place, "0X10", HEX, "16") for place in (ATTRIBUTE, INT, INTS, DIM, VERSIONS, RECORD)),
    (INTS, "-0xff", HEX, "-255"),
    (INTS, "0xffffffffffffffff", HEX, "18446744073709551615"),
    *((place, "0b101", "syntax-error", "5") for place in (ATTRIBUTE, INTS, INT_ROW, VERSIONS)),
    (INT, "-0o17", "syntax-error", "-15"),
    *((place, "1_000", SEPARATOR, "1000") for place in (INTS, INT_DATA, DIM, VERSIONS, RECORD)),
    *((place, "1,000", SEPARATOR, "1000") for place in (ATTRIBUTE, INT)),
    *((place, "1f", SUFFIX, "1.0") for place in (ATTRIBUTE, FLOAT, FLOATS, LIST)),
    *((place, "-1f", SUFFIX, "-1.0") for place in (ATTRIBUTE, FLOAT, FLOATS, LIST)),
    *((place, "1f", SUFFIX, "1") for place in (INT, INTS, REPEATED, INT_ROW, DIM, VERSIONS)),
    *((place, "1.0f", SUFFIX, "1") for place in (INT, INTS, REPEATED)),
    *((place, "10L", SUFFIX, "10") for place in (ATTRIBUTE, INT_ROW, DIM, RECORD)),
    *((place, "+5", SIGN, "5") for place in (ATTRIBUTE, INTS, FLOATS, INT_DATA, DIM, VERSIONS)),
    *((place, "+.5", SIGN, "0.5") for place in (ATTRIBUTE, FLOATS, FLOAT_ROW, COMPLEX)),
    *((place, "+inf", SIGN, "inf") for place in (FLOATS, LIST, FLOAT_ROW, HALF_ROW)),
    (HALF_ROW, "+5", SIGN, "5.0"),
    *((place, "-.5", POINT, "-0.5") for place in (ATTRIBUTE, FLOATS, LIST, FLOAT_ROW, HALF_ROW)),
    *((place, "1e3", TYPE, "1000") for place in (INT, REPEATED)),
    *((place, "1e3", "syntax-error", "1000") for place in (INTS, INT_ROW, INT_DATA, DIM, VERSIONS)),
    *((place, "5.", "syntax-error", "5") for place in (INTS, INT_ROW, VERSIONS)),
    *((place, "True", "python-literal", "1") for place in (INTS, LIST, REPEATED, SCALAR)),
    (FLAG, "True", "python-literal", "true"),
]


@pytest.mark.parametrize(("text", "spelling", "code", "written"), SPELLINGS)
def test_numbers_in_other_spellings(text: str, spelling: str, code: str, written: str) -> None:
    (error,) = syntax_errors(text % spelling)
    start = text.index("%s")
    assert (error.code, error.labels[0].span) == (code, (start, start + len(spelling)))
    assert error.fix is not None
    assert error.fix.apply(text % spelling) == text % written


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
    assert error.fix is not None
    assert error.fix.apply(ATTRIBUTE % written) == ATTRIBUTE % fixed
