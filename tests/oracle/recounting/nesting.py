"""Parents, depths and self times."""

from collections import Counter, defaultdict

from .categories import NO_PARENT_CATS, OP_CATS, is_launch_cat

MODULUS = 2**61 - 1

# Places in what the stack of open events holds.
MAY_ENCLOSE, IS_OP = 3, 4


class Nesting:
    """Parents, depths and self times of the given rows (all with a dur)."""

    def __init__(self, rows):
        self.rows = rows
        self.parent = {}
        self.depth = {}
        self.op_of_launch = {}
        self.covered = Counter()
        self.covered_until = {}
        self.partial_overlaps = 0
        by_track = defaultdict(list)
        for row in rows:
            by_track[row.track].append((row.ts, -max(row.dur, 0), row.index, row.cat))
        for members in by_track.values():
            members.sort(key=lambda member: member[:3])
            self.nest_track(members)

    def nest_track(self, members):
        stack = []  # (start, end, index, may be a parent, is an operator)
        for start, minus_length, index, cat in members:
            end = start - minus_length
            while stack and has_ended(stack[-1], start, end):
                stack.pop()
            if stack and stack[-1][1] < end:
                self.partial_overlaps += 1
            parent = innermost(stack, start, end, MAY_ENCLOSE)
            self.parent[index] = parent
            self.depth[index] = 0 if parent == -1 else self.depth[parent] + 1
            if parent != -1:
                self.cover(parent, start, end)
            if is_launch_cat(cat):
                self.op_of_launch[index] = innermost(stack, start, end, IS_OP)
            stack.append((start, end, index, cat not in NO_PARENT_CATS, cat in OP_CATS))

    def cover(self, parent, start, end):
        """Add a child to the union; children come in order of their starts."""
        start = max(start, self.covered_until.get(parent, start))
        if end > start:
            self.covered[parent] += end - start
            self.covered_until[parent] = end

    def checksum(self):
        total = sum(
            (index + 1) * 1000003 + (parent + 1) * 10007 + self.depth[index] * 101
            for index, parent in self.parent.items()
        )
        return total % MODULUS

    def report(self):
        depths = Counter(self.depth.values())
        covered = sum(self.covered.values())
        return {
            "nest_count": len(self.rows),
            "depth_hist": [depths[depth] for depth in range(max(depths, default=-1) + 1)],
            "with_parent": sum(parent != -1 for parent in self.parent.values()),
            "partial_overlaps": self.partial_overlaps,
            "sum_dur_ns": sum(row.dur for row in self.rows),
            "sum_self_ns": sum(max(row.dur, 0) for row in self.rows) - covered,
            "min_ts_ns": min((row.ts for row in self.rows), default=None),
            "max_end_ns": max((row.ts + max(row.dur, 0) for row in self.rows), default=None),
            "checksum": self.checksum(),
        }


def has_ended(opened, start, end):
    if opened[1] != start:
        return opened[1] < start
    both_empty = opened[0] == start and end == start
    return not both_empty


def innermost(stack, start, end, quality):
    """The innermost open event with a quality that encloses (start, end), else -1."""
    for opened in reversed(stack):
        if opened[quality] and opened[1] >= end and not has_ended(opened, start, end):
            return opened[2]
    return -1


def nest(rows):
    """(report members, the nesting that launches are looked up in)."""
    spans = [row for row in rows if row.ph == "X" and row.dur is not None]
    nesting = Nesting(spans)
    reports = {"nest": nesting.report()}
    if any(row.ph == "B" for row in rows):
        begins = [row for row in rows if row.ph == "B" and row.dur is not None]
        nesting = Nesting(spans + begins)
        reports["nest_xb"] = nesting.report()
    return reports, nesting
