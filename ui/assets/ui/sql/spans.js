// The colours of a statement while it is edited. They come from the server; until they are there,
// those of the unchanged beginning and end stay.
import { api } from "../base/session.js";
import { later } from "../parts/page.js";

const WAIT_MS = 70;
/** Longer texts stay without colours, because requests are limited to 1 MiB. */
const MOST = 200_000;

/** The spans of `before` that also hold in `after`, moved to their places there. */
export function kept(spans, before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const by = after.length - before.length;
  const first = spans.filter((span) => span[1] <= start);
  const last = spans.filter((span) => span[0] >= before.length - end && span[0] >= start);
  return [...first, ...last.map(([from, to, kind]) => [from + by, to + by, kind])];
}

/**
 * Asks for the spans of texts, as { ask(text), askNow(text) }: `ask` waits for a pause, `askNow`
 * resolves when the answer was handed to `found({ text, spans, statements, parameters })`.
 */
export function spanSource(found) {
  let stop = null;
  let current = { text: null, done: null };

  function askNow(text) {
    soon.cancel();
    if (current.text !== text) current = { text, done: fetchSpans(text) };
    return current.done;
  }

  async function fetchSpans(text) {
    if (stop) stop.abort();
    stop = new AbortController();
    try {
      found({ text, ...(await api("/api/spans", { text }, { signal: stop.signal })) });
    } catch {
      // The next change asks again.
    }
    if (current.text === text) current = { text: null, done: null };
  }

  const soon = later(askNow, WAIT_MS);
  const ask = (text) => {
    if (text.length <= MOST) soon(text);
    else soon.cancel();
  };
  return { ask, askNow };
}
