"""What a timeline must draw, computed from the rows of `events` by the rule of docs/ui.md.

A second writing of the rule: it shares no code with the program.
"""

from collections import namedtuple

Event = namedtuple("Event", "id parent depth start end name")
Drawn = namedtuple("Drawn", "lane id start end count")


def events_of(ui, trace_id, track_id, shift):
    """The events of a track in order, with times of the timeline."""
    rows = ui.rows(
        "SELECT event_id, parent_id, depth, ts_ns, coalesce(end_ns, ts_ns), name FROM events "
        f"WHERE trace_id = '{trace_id}' AND track_id = {track_id} "
        "AND ts_ns IS NOT NULL AND depth IS NOT NULL LIMIT 10000"
    )
    numbers = [[row[0], row[1], row[2], int(row[3]) - shift, int(row[4]) - shift] for row in rows]
    events = [Event(*own, row[5]) for own, row in zip(numbers, rows)]
    return sorted(events, key=lambda e: (e.start, -e.end, e.id))


def lanes_of(events):
    """The lane of each event with a duration, by its id."""
    lanes, ends = {}, []
    for event in events:
        if event.end <= event.start:
            continue
        least = max(event.depth, lanes.get(event.parent, -1) + 1)
        lane = next((n for n in range(least, len(ends)) if ends[n] <= event.start), None)
        if lane is None:
            lane = max(least, len(ends))
            ends += [float("-inf")] * (lane + 1 - len(ends))
        ends[lane] = event.end
        lanes[event.id] = lane
    return lanes


def drawn(events, lanes, block, view):
    """The rectangles of a block that lie in a view: of each lane and column the longest event."""
    columns = {}
    for event in events:
        lane = lanes.get(event.id)
        if lane is None or event.start >= block["to"]:
            continue
        if event.start < block["from"]:
            if event.end > block["from"]:
                columns[lane, "before"] = [event]
        else:
            columns.setdefault((lane, event.start // block["step"]), []).append(event)
    found = set()
    for (lane, _), own in columns.items():
        longest = max(own, key=lambda e: (e.end - e.start, -e.start))
        if longest.end > view["start"] and longest.start < view["end"]:
            found.add(Drawn(lane, longest.id, longest.start, longest.end, len(own)))
    return found


def instants(events, block, view):
    """The marks of events without a duration: of each column the first, with their number."""
    columns = {}
    for event in events:
        if event.end <= event.start and block["from"] <= event.start < block["to"]:
            columns.setdefault(event.start // block["step"], []).append(event)
    marks = [(own[0].start, len(own)) for own in columns.values()]
    return {mark for mark in marks if view["start"] <= mark[0] <= view["end"]}
