// Marks of the user: spans of time. One of them is for now and gives way to the next; others stay.

const TINTS = ["comm", "host", "copy", "data", "runtime"];
const MAX_MARKS = 50;

/** The marks; `changed()` is called after each change. */
export function marksOf(changed) {
  let kept = [];
  let current = null;

  const same = (a, b) => a.start === b.start && a.end === b.end;

  function mark({ start, end }, isKept) {
    const span = { start, end, isKept, tint: TINTS[kept.length % TINTS.length] };
    if (!isKept) current = span;
    else if (!kept.some((m) => same(m, span)) && kept.length < MAX_MARKS) kept.push(span);
    if (isKept && current && same(current, span)) current = null;
    changed();
  }

  /** Removes the mark of a span, else the one for now, else the last one. True if one is gone. */
  function remove(span) {
    const before = kept.length;
    if (span && kept.some((m) => same(m, span))) kept = kept.filter((m) => !same(m, span));
    else if (current) current = null;
    else if (kept.length) kept.pop();
    else return before > 0;
    changed();
    return true;
  }

  return {
    mark,
    remove,
    all: () => (current ? [...kept, current] : kept),
    /** The marks that stay as a text of the address, or null. */
    text: () => kept.map((m) => `${m.start}-${m.end}`).join(",") || null,
    read(text) {
      kept = [];
      for (const part of (text || "").split(",")) {
        const [start, end] = part.split("-").map(Number);
        if (part && Number.isFinite(start) && end >= start) mark({ start, end }, true);
      }
    },
  };
}
