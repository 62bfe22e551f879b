"""Launches of device rows, and the operators that the launches are in."""

import bisect
from collections import defaultdict

from .categories import DEVICE_CATS, OP_CATS, is_launch_cat
from .nesting import MODULUS
from .values import correlation_of, external_id_of


def is_device_row(row):
    if row.ph != "X":
        return False
    return row.cat in DEVICE_CATS or row.cat == "mtia_ccp_events"


def is_launch(row):
    return row.ph == "X" and is_launch_cat(row.cat)


def choose_launch(candidates, ts):
    """From (ts, index, row) in order, the last that is not later than ts, else the first."""
    place = bisect.bisect_right(candidates, ts, key=lambda candidate: candidate[0])
    return candidates[max(place - 1, 0)][2]


def innermost_op(launch, nesting, by_index):
    return by_index.get(nesting.op_of_launch.get(launch.index, -1))


def link(rows, nesting):
    by_index = {row.index: row for row in rows}
    launches = [row for row in rows if is_launch(row)]
    by_correlation = defaultdict(list)
    for row in sorted(launches, key=lambda row: (row.ts, row.index)):
        correlation = correlation_of(row)
        if correlation is not None:
            by_correlation[correlation].append((row.ts, row.index, row))
    devices = linked = with_op = total = 0
    ops = {}
    for row in filter(is_device_row, rows):
        devices += 1
        launch = op = None
        candidates = by_correlation.get(correlation_of(row))
        if candidates:
            linked += 1
            launch = choose_launch(candidates, row.ts)
            op = innermost_op(launch, nesting, by_index)
            ops[launch.index] = op
            with_op += op is not None
        total += (row.index + 1) * 1000003 + position(launch) * 10007 + position(op) * 101
    return {
        "device_rows": devices,
        "launches": len(launches),
        "linked": linked,
        "with_op": with_op,
        "checksum": total % MODULUS,
        "shared_id": count_shared_ids(rows, launches, nesting, by_index),
        "ext_check": check_external_ids(launches, ops, by_index),
    }


def count_shared_ids(rows, launches, nesting, by_index):
    tracks = {row.track for row in launches}
    if any(correlation_of(row) is not None for row in launches) or any(
        row.ph in "st" and row.track in tracks for row in rows
    ):
        return None
    calls = defaultdict(list)
    for launch in launches:
        calls[external_id_of(launch)].append(launch)
    linked = defaultdict(list)
    for row in filter(is_device_row, rows):
        external_id = external_id_of(row)
        if (
            correlation_of(row) is None
            and external_id is not None
            and len(calls[external_id]) == 1
            and calls[external_id][0].ts <= row.ts
        ):
            linked[external_id].append(calls[external_id][0])
    of_operators = {external_id_of(row) for row in rows if row.cat in OP_CATS}
    found = [
        call
        for number, same in linked.items()
        for call in same
        if len(same) == 1 or "GraphLaunch" in call.name or number not in of_operators
    ]
    return [len(found), sum(innermost_op(call, nesting, by_index) is not None for call in found)]


def position(row):
    return 0 if row is None else row.index + 1


def check_external_ids(launches, ops, by_index):
    if not any(own_external_id(launch) is not None for launch in launches):
        return None
    counts = dict.fromkeys(("equal", "differs", "launch_without", "no_op"), 0)
    for index, op in ops.items():
        external_id = own_external_id(by_index[index])
        if external_id is None:
            counts["launch_without"] += 1
        elif op is None:
            counts["no_op"] += 1
        elif external_id_of(op) == external_id:
            counts["equal"] += 1
        else:
            counts["differs"] += 1
    return counts


def own_external_id(launch):
    """The External id, if it is not only the correlation once more."""
    external_id = external_id_of(launch)
    return None if external_id == correlation_of(launch) else external_id
