#!/usr/bin/env python3
"""Check a merged Chrome trace against the traces that it was made from.

    chrome_check.py MERGED INPUT…      fails with a sentence for each thing that is wrong

Reads JSON with exact decimals and knows nothing of tracesql. Standard library only.
"""

import gzip
import json
import sys
from collections import Counter, defaultdict
from decimal import Decimal


def events(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        document = json.load(file, parse_float=Decimal)
    if isinstance(document, list):
        return document, 0
    return document["traceEvents"], int(document.get("baseTimeNanoseconds", 0))


def is_named_anew(e):
    return e["ph"] == "M" and e["name"] in ("process_name", "process_sort_index")


def facts(e, base):
    """What must be the same in both, with the time in ns since 1970."""
    ts = None if "ts" not in e else int(Decimal(e["ts"]) * 1000) + base
    dur = None if "dur" not in e else int(Decimal(e["dur"]) * 1000)
    return (
        e["ph"],
        e.get("cat"),
        e.get("name"),
        str(e.get("tid")),
        ts,
        dur,
        len(e.get("args") or ()),
    )


def main(merged, *inputs):
    wrong = []
    got, base = events(merged)
    want = Counter()
    flows = 0
    for path in inputs:
        own, own_base = events(path)
        want.update(facts(e, own_base) for e in own if not is_named_anew(e))
        flows += len({(e.get("cat"), e["name"], str(e["id"])) for e in own if e["ph"] in "stf"})
    have = Counter(facts(e, base) for e in got if not is_named_anew(e))
    for missing, n in list((want - have).items())[:5]:
        wrong.append(f"{n} × {missing} is not there")
    for more, n in list((have - want).items())[:5]:
        wrong.append(f"{n} × {more} is too much")

    names = {}
    for e in got:
        if e["ph"] == "M" and e["name"] == "process_name":
            if e["pid"] in names:
                wrong.append(f"process {e['pid']} is named twice")
            names[e["pid"]] = e["args"]["name"]
    unnamed = {str(e.get("pid")) for e in got} - {str(p) for p in names}
    if unnamed:
        wrong.append(f"processes without a name: {sorted(unnamed)}")
    rank = {pid: name.split(":")[0] for pid, name in names.items()}

    # An id of a flow, or a correlation, belongs to one rank.
    owners, correlations = defaultdict(set), defaultdict(set)
    for e in got:
        if e["ph"] in "stf":
            owners[(e.get("cat"), e["name"], str(e["id"]))].add(rank[e["pid"]])
        number = (e.get("args") or {}).get("correlation")
        if isinstance(number, int) and number not in (0, -1, 2**32 - 1):
            correlations[number].add(rank[e["pid"]])
    if len(owners) != flows:
        wrong.append(f"{len(owners)} flows, not {flows}")
    for what, table in (("flow", owners), ("correlation", correlations)):
        crossing = [key for key, ranks in table.items() if len(ranks) > 1]
        if crossing:
            wrong.append(f"{what} {crossing[0]} belongs to several ranks ({len(crossing)} do)")

    depth = Counter()
    for e in sorted((e for e in got if e["ph"] in "BE"), key=lambda e: Decimal(e["ts"])):
        depth[(e["pid"], e["tid"])] += 1 if e["ph"] == "B" else -1
        if depth[(e["pid"], e["tid"])] < 0:
            wrong.append(f"an end without a begin at {e['ts']}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(got)} elements, {len(owners)} flows, {len(names)} processes")


if __name__ == "__main__":
    main(*sys.argv[1:])
