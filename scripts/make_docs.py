#!/usr/bin/env python3
"""Write docs/tables.md, the reference of tables, columns and issue codes, from the Rust files that define them.

    scripts/make_docs.py           write docs/tables.md
    scripts/make_docs.py --check   exit 1 if it is not up to date; nothing is written

Read are `ingest/src/schema/*.rs` and the `codes!` block of `ingest/src/issues.rs`. The definitions are calls of a few
const functions; this script evaluates those calls, helpers of `schema/mod.rs` included, and knows only `column` and
`required` itself. Anything it does not understand is an error, never left out. Standard library only.
"""

import difflib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "ingest/src/schema"
ISSUES = ROOT / "ingest/src/issues.rs"
TARGET = ROOT / "docs/tables.md"

TOKEN = re.compile(
    r"""\s+|//[^\n]*                            # space and comments
      | (?P<text>"(?:[^"\\]|\\.)*")             # text
      | (?P<name>[A-Za-z_]\w*(?:::\w+)*)        # name or path
      | (?P<number>\d[\d_]*)
      | (?P<mark>\.\.|->|=>|[&(){}\[\],:;=<>'|*.\#!?+-])
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0", "r": "\r"}

INTRO = """\
# Tables, columns and issue codes

This page is made by `scripts/make_docs.py` from the definitions in `ingest/src`; do not edit it by hand.
It describes schema version {version}, which every file of a store carries as `tracesql.schema_version`.

## How to read it

- A trace has all {tables} tables; those that it says nothing about are empty. The file of a table is
  `STORE/<trace_id>/<table>.parquet`.
- Every table begins with `trace_id`. Ids of events, tracks and modules are unique within a trace only, so join on
  `trace_id` and the id.
- `event_id` is the position of an element in the event list of the input, from 0; skipped elements have one too.
- Times and durations (`_ns`) are whole nanoseconds, read from the decimal text. `traces.base_time_ns + ts_ns` is Unix
  time where the trace says what its zero is.
- Types are those of Arrow: Int64, Float64, Utf8, Boolean. JSON columns are Utf8 with compact JSON.
- NULL means that the input does not say it, or not in a form that the column can hold; the input's own text is then in
  `args`, `extra` or a text column. A column marked *never NULL* has a value in each row.
- Values that profilers write for "no id" (0, -1, 2^32-1) are NULL in `correlation` and `external_id`.

## Tables

"""

JOINS = """\
## Joins worth knowing

| from | to | on (besides `trace_id`) |
| --- | --- | --- |
| an event | its parent | `e.parent_id = p.event_id` |
| an event | all that it encloses | `d.pre > e.pre AND d.pre <= e.post` |
| a device activity | its event | `k.event_id = e.event_id` |
| a device activity | the call that launched it | `k.launch_id = e.event_id` |
| a device activity | the operator around that call | `k.op_id = e.event_id` |
| a forward operator | its backward operator | `flows` with `kind = 'fwdbwd'`: `src_event_id`, `dst_event_id` |
| an event, activity or allocation | its step | `x.step = s.step` |
| an event | its thread or stream | `e.track_id = t.track_id` |
| a module | its calls | `e.name = 'nn.Module: ' \\|\\| m.name` (where `source` is `python`) |

"""

CODES = """\
## Issue codes

Rows of `ingest_issues`. A code's text is stable. *Skips* says whether each count is an element that has no row in
`events`: their sum is `traces.skipped_count`. `--strict` refuses an input with anything worse than `info`.

| code | severity | skips | meaning |
| --- | --- | --- | --- |
"""


class Tokens:
    """The tokens of a Rust text, and a reader of the few expressions that definitions are made of."""

    def __init__(self, path, text):
        self.path, self.at, self.all = path, 0, []
        place = 0
        while place < len(text):
            match = TOKEN.match(text, place)
            if not match:
                self.fail(f"cannot read {text[place : place + 40]!r}")
            place = match.end()
            if match.lastgroup:
                self.all.append((match.lastgroup, match.group(match.lastgroup)))

    def fail(self, message):
        near = " ".join(text for _, text in self.all[max(0, self.at - 5) : self.at + 3])
        sys.exit(f"make_docs: {self.path}: {message} (near: {near})")

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.all[at][1] if at < len(self.all) else ""

    def next(self):
        token = (
            self.all[self.at] if self.at < len(self.all) else self.fail("the text ends too early")
        )
        self.at += 1
        return token

    def want(self, *marks):
        for mark in marks:
            if self.next()[1] != mark:
                self.fail(f"{mark!r} is expected")

    def find(self, *marks):
        """Moves behind the next place where these tokens follow each other."""
        for at in range(self.at, len(self.all) - len(marks) + 1):
            if tuple(text for _, text in self.all[at : at + len(marks)]) == marks:
                self.at = at + len(marks)
                return
        self.fail(f"{' '.join(marks)!r} is not there")

    def list(self, close):
        """Expressions up to the closing mark, with commas between."""
        items = []
        while self.peek() != close:
            items.append(self.expression())
            if self.peek() != close:
                self.want(",")
        self.want(close)
        return items

    def expression(self):
        """A text, name, number, call, list or struct as nested tuples."""
        kind, text = self.next()
        if text == "&":
            return self.expression()
        if text == "[":
            return ("list", self.list("]"))
        if kind == "text":
            return ("text", unquote(text))
        if kind == "number":
            return ("number", int(text.replace("_", "")))
        if kind != "name":
            self.fail(f"{text!r} is not understood")
        if self.peek() == "(":
            self.next()
            return ("call", text, self.list(")"))
        if self.peek() == "{":
            self.next()
            return ("struct", text, self.fields())
        return ("name", text)

    def fields(self):
        fields = {}
        while self.peek() != "}":
            if self.peek() == "..":
                self.next()
                fields[".."] = self.expression()
            else:
                name = self.next()[1]
                if self.peek() == ":":
                    self.next()
                    fields[name] = self.expression()
                else:
                    fields[name] = ("name", name)
            if self.peek() != "}":
                self.want(",")
        self.want("}")
        return fields


def unquote(text):
    """The value of a Rust text literal."""
    out = re.sub(r"\\\r?\n\s*", "", text[1:-1])
    return re.sub(r"\\(.)", lambda m: ESCAPES[m.group(1)], out)


def without_tests(text):
    return text.split("#[cfg(test)]")[0]


class Schema:
    """The tables of `ingest/src/schema`."""

    def __init__(self):
        path = SCHEMA / "mod.rs"
        text = without_tests(path.read_text("utf-8"))
        self.functions, self.constants = {}, {}
        for match in re.finditer(r"\bconst fn (\w+)\s*\(([^)]*)\)\s*->\s*Column\s*\{", text):
            body = Tokens(path, text[match.end() :].split("\n}\n")[0])
            names = [
                part.split(":")[0].strip() for part in match.group(2).split(",") if part.strip()
            ]
            self.functions[match.group(1)] = (names, body.expression())
        for match in re.finditer(r"\bconst (\w+): Column =(.*?);\n", text, re.DOTALL):
            self.constants[match.group(1)] = Tokens(path, match.group(2)).expression()
        version = re.search(r"pub const SCHEMA_VERSION: u32 = (\d+);", text)
        order = re.search(r"pub const TABLES: &\[&Table\] = &\[(.*?)\];", text, re.DOTALL)
        if not (version and order):
            sys.exit(f"make_docs: {path}: SCHEMA_VERSION or TABLES is not there")
        self.version = int(version.group(1))
        modules = re.findall(r"&(\w+)::TABLE", order.group(1))
        files = sorted(p.stem for p in SCHEMA.glob("*.rs") if p.stem != "mod")
        if sorted(modules) != files:
            sys.exit(
                f"make_docs: TABLES and the files of {SCHEMA} differ: {sorted(set(modules) ^ set(files))}"
            )
        self.tables = [self.table(SCHEMA / f"{module}.rs") for module in modules]

    def table(self, path):
        tokens = Tokens(path, path.read_text("utf-8"))
        tokens.find("pub", "const", "TABLE", ":", "Table", "=")
        _, name, fields = tokens.expression()
        if name != "Table" or fields["columns"][0] != "list":
            tokens.fail("TABLE is not understood")
        columns = [self.value(item, {}) for item in fields["columns"][1]]
        return {"name": fields["name"][1], "about": fields["about"][1], "columns": columns}

    def value(self, node, names):
        """What an expression stands for: a column as a dict, anything else as text or number."""
        kind, what = node[0], node[1]
        if kind in ("text", "number"):
            return what
        if kind == "name":
            if what in names:
                return names[what]
            return self.value(self.constants[what], {}) if what in self.constants else what
        if kind == "struct" and what == "Column":
            fields = dict(node[2])
            base = self.value(fields.pop(".."), names) if ".." in fields else {}
            return {**base, **{name: self.value(value, names) for name, value in fields.items()}}
        if kind == "call" and what in self.functions:
            parameters, body = self.functions[what]
            return self.value(
                body, dict(zip(parameters, [self.value(a, names) for a in node[2]], strict=True))
            )
        sys.exit(f"make_docs: {what!r} in a definition is not understood")


def issue_codes():
    """Code, severity, whether it skips, and meaning of every issue, in order."""
    tokens = Tokens(
        ISSUES, without_tests(ISSUES.read_text("utf-8")).split("\ncodes! {")[1].split("\n}\n")[0]
    )
    codes = []
    while tokens.peek():
        variant, severity, skips, code, meaning = (tokens.next() for _ in range(5))
        tokens.want(";")
        if (variant[0], severity[0], code[0], meaning[0]) != (
            "name",
            "name",
            "text",
            "text",
        ) or skips[1] not in ("true", "false"):
            tokens.fail("an issue is not understood")
        codes.append(
            (unquote(code[1]), severity[1].lower(), skips[1] == "true", unquote(meaning[1]))
        )
    return codes


TYPES = {
    "Kind::Int": "Int64",
    "Kind::Float": "Float64",
    "Kind::Text": "Utf8",
    "Kind::Bool": "Boolean",
}


def cell(text):
    """A text as a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def page():
    schema, codes = Schema(), issue_codes()
    out = [INTRO.format(version=schema.version, tables=len(schema.tables))]
    out += ["| table | one row is |\n| --- | --- |\n"]
    for table in schema.tables:
        out.append(f"| [`{table['name']}`](#{table['name']}) | {cell(table['about'])} |\n")
    out.append("\n")
    for table in schema.tables:
        out.append(
            f"### {table['name']}\n\n{table['about']}\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n"
        )
        for column in table["columns"]:
            about = column["about"] + (
                " *Never NULL.*" if column["required"] in (True, "true") else ""
            )
            out.append(
                f"| `{column['name']}` | {TYPES[column['kind']]} | {column['unit']} | {cell(about)} |\n"
            )
        out.append("\n")
    out += [JOINS, CODES]
    out += [
        f"| `{code}` | {severity} | {'yes' if skips else 'no'} | {cell(meaning)} |\n"
        for code, severity, skips, meaning in codes
    ]
    return "".join(out)


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    new = page()
    old = TARGET.read_text("utf-8") if TARGET.exists() else ""
    if not arguments:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(new, "utf-8")
    elif old != new:
        changes = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "docs/tables.md", "definitions", lineterm="", n=0
        )
        print("\n".join(list(changes)[:40]))
        sys.exit("docs/tables.md is not up to date; run scripts/make_docs.py")


main(sys.argv[1:])
