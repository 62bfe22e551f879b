"""How a peer tells the driver what it saw, so that nobody is timed on half of the work."""

import json


def report(events: int, dur_ns: int) -> None:
    """Prints the number of rows a peer holds and the sum of their durations in nanoseconds."""
    print(json.dumps({"events": int(events), "dur_ns": int(dur_ns)}))
