"""From a file to its event list: valid JSON, or what can be read of broken JSON."""

import gzip
import json
import re
import sys

ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
OBJECT_LINE = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
SEPARATORS = re.compile(r"[ \t\r\n,]*")
BLANKS = re.compile(r"[ \t\r\n]*")

UNREADABLE = (ValueError, RecursionError)
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


class NumberText(str):
    """Text of a JSON number with a fraction or an exponent."""

    __slots__ = ()


class Constant(str):
    """NaN, Infinity or -Infinity where JSON wants a number."""

    __slots__ = ()


class Undecodable:
    """Stands in the event list for text that no element could be read from."""


UNDECODABLE = Undecodable()
DECODER = json.JSONDecoder(strict=False, parse_float=NumberText, parse_constant=Constant)


def read_text(path):
    """The file's text; None if it is a zip archive."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:4] == b"PK\x03\x04":
        return None
    return data.decode("utf-8-sig", errors="replace")


def double_bad_backslashes(text):
    return ESCAPE.sub(lambda m: "\\\\" if m.group() == "\\" else m.group(), text)


def read_document(text):
    """(mode, document); mode None if the text is no JSON at all."""
    start = BLANKS.match(text).end()
    if text[start : start + 1] not in ("{", "["):
        return None, None
    try:
        return "json", DECODER.decode(text)
    except UNREADABLE:
        pass
    fixed = double_bad_backslashes(text)
    if fixed != text:
        try:
            return "escapes", DECODER.decode(fixed)
        except UNREADABLE:
            pass
    return "lenient", read_leniently(fixed, BLANKS.match(fixed).end())


def read_leniently(text, start):
    if text[start] == "[":
        return split_elements(text, start + 1)[0]
    return read_object_leniently(text, start + 1)


def read_object_leniently(text, pos):
    """The top-level members up to the first that cannot be read."""
    members = {}
    while True:
        pos = SEPARATORS.match(text, pos).end()
        try:
            key, pos = DECODER.raw_decode(text, pos)
            pos = BLANKS.match(text, pos).end()
            if not isinstance(key, str) or text[pos : pos + 1] != ":":
                return members
            pos = BLANKS.match(text, pos + 1).end()
            if key == "traceEvents" and text[pos : pos + 1] == "[":
                members[key], pos = split_elements(text, pos + 1)
            else:
                members[key], pos = DECODER.raw_decode(text, pos)
        except UNREADABLE:
            return members


def split_elements(text, pos):
    """Elements of the list whose first one starts at pos, and where it ends."""
    elements = []
    while True:
        pos = SEPARATORS.match(text, pos).end()
        if pos == len(text) or text[pos] == "]":
            return elements, pos + 1
        try:
            element, pos = DECODER.raw_decode(text, pos)
        except UNREADABLE:
            element, pos = UNDECODABLE, next_object(text, pos)
        elements.append(element)


def next_object(text, pos):
    """Where the next line starts that opens an object which decodes."""
    for line in OBJECT_LINE.finditer(text, pos + 1):
        try:
            DECODER.raw_decode(text, line.end())
            return line.end()
        except UNREADABLE:
            continue
    return len(text)


def find_events(document):
    """The event list, else None."""
    if type(document) is dict:
        events = document.get("traceEvents")
        return events if type(events) is list else None
    if type(document) is list:
        if not document or any(type(item) is dict and "ph" in item for item in document):
            return document
    return None
