#!/usr/bin/env python3
"""score_kernel_names.py PROGRAM FILE [--all]: how well kernel_names classifies labelled kernel
names, and whether it meets what is wanted.

FILE is a table of tabs with a header: name, library, class, collective, matrix_unit (yes, no,
unknown), precision, vendor, evidence, confidence, family. The names become the kernels of one
trace; each counts once. Prints a JSON object of figures, then the worst families (all with --all).
A share whose whole is 0 is left out.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

MATRIX = ("gemm", "conv", "attention")


def read(path):
    lines = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def answers(program, rows):
    with tempfile.TemporaryDirectory() as folder:
        trace, store = pathlib.Path(folder, "names.json"), pathlib.Path(folder, "store")
        kernel = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "dur": 1}
        events = [
            {
                **kernel,
                "name": row["name"],
                "ts": 2 * at,
                "args": {"device": 0, "stream": 7, "correlation": at + 1},
            }
            for at, row in enumerate(rows)
        ]
        trace.write_text(json.dumps({"traceEvents": events}))
        subprocess.run(
            [program, "ingest", trace, "-o", store, "--quiet"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        sql = (
            "SELECT name, class, library, collective, matrix_unit, precision, vendor, class_rule, "
            "matrix_unit_rule FROM kernel_names"
        )
        done = subprocess.run(
            [program, "query", store, "--quiet", "--format", "ndjson", "-c", sql],
            check=True,
            capture_output=True,
            text=True,
        )
        found = {answer["name"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    return [found[row["name"]] for row in rows]


def share(figures, name, part, whole):
    if whole:
        figures[name] = round(100 * part / whole, 1)


def figures(pairs):
    out = {"names": len(pairs)}
    said = [(r, a) for r, a in pairs if a["class"] == "communication"]
    communication = [(r, a) for r, a in pairs if r["class"] == "communication"]
    both = sum(a["class"] == "communication" for _, a in communication)
    share(out, "communication_precision_pct", both, len(said))
    share(out, "communication_recall_pct", both, len(communication))
    known = [(r, a) for r, a in communication if r["collective"]]
    share(
        out, "collective_pct", sum(r["collective"] == a["collective"] for r, a in known), len(known)
    )
    out["collective_wrong"] = sum(a["collective"] not in (None, r["collective"]) for r, a in known)
    share(
        out,
        "communication_library_pct",
        sum(a["library"] is not None for _, a in communication),
        len(communication),
    )
    share(out, "library_pct", sum(a["library"] is not None for _, a in pairs), len(pairs))
    units = collections.Counter((r["matrix_unit"], a["matrix_unit"]) for r, a in pairs)
    yes, no = (
        sum(n for (label, _), n in units.items() if label == value) for value in ("yes", "no")
    )
    right = units["yes", "yes"] + units["no", "no"]
    share(out, "matrix_unit_right_pct", right, right + units["yes", "no"] + units["no", "yes"])
    share(out, "matrix_unit_yes_found_pct", units["yes", "yes"], yes)
    share(out, "matrix_unit_yes_unclear_pct", units["yes", "unclear"], yes)
    share(out, "matrix_unit_wrongly_yes_pct", units["no", "yes"], no)
    share(out, "matrix_unit_no_unclear_pct", units["no", "unclear"], no)
    for value in MATRIX:
        # Helpers and products with a vector are matrix work by label only.
        labelled = [
            (r, a)
            for r, a in pairs
            if r["class"] == value and not r["evidence"].startswith(("helper", "gemv"))
        ]
        share(
            out,
            f"{value}_recognised_pct",
            sum(a["class"] in MATRIX or a["matrix_unit"] == "yes" for _, a in labelled),
            len(labelled),
        )
        share(
            out, f"{value}_class_pct", sum(a["class"] == value for _, a in labelled), len(labelled)
        )
    share(out, "class_pct", sum(r["class"] == a["class"] for r, a in pairs), len(pairs))
    out["unclassified"] = sum(a["class"] == "unclassified" for _, a in pairs)
    stated = [
        (r, a) for r, a in pairs if a["precision"] and r["precision"] not in ("unknown", "mixed")
    ]
    share(
        out,
        "precision_right_pct",
        sum(r["precision"] == a["precision"] for r, a in stated),
        len(stated),
    )
    return out


def mistakes(row, answer):
    if row["class"] != answer["class"]:
        yield f"class {row['class']} → {answer['class']}"
    if (
        row["class"] == "communication"
        and row["collective"]
        and row["collective"] != answer["collective"]
    ):
        yield f"collective {row['collective']} → {answer['collective']}"
    if row["matrix_unit"] in ("yes", "no") and answer["matrix_unit"] != row["matrix_unit"]:
        yield f"matrix unit {row['matrix_unit']} → {answer['matrix_unit']}"


def main():
    program, path = sys.argv[1:3]
    rows = read(path)
    pairs = list(zip(rows, answers(program, rows)))
    print(json.dumps(figures(pairs), indent=1))
    families = collections.defaultdict(lambda: [0, collections.Counter(), ""])
    for row, answer in pairs:
        family = families[row["family"]]
        family[0] += 1
        for mistake in mistakes(row, answer):
            family[1][mistake] += 1
            family[2] = family[2] or row["name"][:100]
    worst = sorted(
        ((f, v) for f, v in families.items() if v[1]), key=lambda item: -item[1][1].total()
    )
    for family, (names, counts, example) in worst if "--all" in sys.argv else worst[:25]:
        listed = ", ".join(f"{what}: {n}" for what, n in counts.most_common())
        print(f"{names}\t{family}\t{listed}\t{example}")


if __name__ == "__main__":
    main()
