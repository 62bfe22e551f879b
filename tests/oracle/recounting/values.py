"""Values of single members: times, ids and args."""

import json
import re

from .reading import NumberText

I64_MIN, I64_MAX = -(2**63), 2**63 - 1
NO_IDS = {0, -1, 2**32 - 1, 2**64 - 1}

NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
DIGITS = re.compile(r"[0-9]+")
STRING_BLANKS = " \t\r\n"


def is_text(value):
    return type(value) is str


def to_ns(value):
    """Nanoseconds of a time in us; None if it is no number or beyond i64."""
    kind = type(value)
    if kind is int:
        ns = value * 1000
    elif kind is NumberText:
        ns = decimal_to_ns(value)
    elif kind is str:
        ns = decimal_to_ns(value.strip(STRING_BLANKS))
    else:
        return None
    if ns is None or not I64_MIN <= ns <= I64_MAX:
        return None
    return ns


def decimal_to_ns(text):
    whole, point, fraction = text.partition(".")
    if point and len(fraction) <= 3 and fraction.isdigit() and whole.isdigit() and text.isascii():
        return int(whole + fraction + "000"[len(fraction) :])
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    if not whole and not fraction:
        return None
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    magnitude = scale_half_even(digits, int(exponent or 0) - len(fraction) + 3)
    if magnitude is None:
        return None
    return -magnitude if sign == "-" else magnitude


def scale_half_even(digits, power):
    """digits * 10^power as an integer; None if far beyond i64."""
    if len(digits) + power > 25:
        return None
    if power >= 0:
        return int(digits) * 10**power
    if len(digits) + power < -1:
        return 0
    quotient, rest = divmod(int(digits), 10**-power)
    half = 10**-power // 2
    if rest > half or (rest == half and quotient % 2 == 1):
        quotient += 1
    return quotient


def to_id(value):
    """An id that can be joined on, else None."""
    if type(value) is int:
        number = value
    elif type(value) is str and DIGITS.fullmatch(value):
        number = int(value)
    else:
        return None
    return None if number in NO_IDS else number


def identity(value):
    """Equal only for values of the same JSON type and text."""
    if value is None or type(value) in (int, str):
        return value
    return type(value).__name__, json.dumps(value, sort_keys=True)


def args_of(element):
    args = element.get("args")
    return args if type(args) is dict else {}


def correlation_of(row):
    return to_id(args_of(row.element).get("correlation"))


def external_id_of(row):
    args = args_of(row.element)
    if "External id" in args:
        return to_id(args["External id"])
    for key, value in args.items():
        if key.lower() == "external id":
            return to_id(value)
    return None
