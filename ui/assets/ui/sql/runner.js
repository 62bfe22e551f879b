// Runs the statements of the editor one after another. A request holds one statement.
import { startQuery } from "../parts/query.js";

/**
 * The parts of `text` to run: { sql, start } with places in the whole text. `statements` are its
 * statements as the server sees them; those within `selection` run if it is not empty.
 */
export function partsToRun(text, statements, [from, to]) {
  if (to > from) return inside(text, statements, from, to);
  const all = statements.length ? statements : [[0, text.length]];
  return all.map(([start, end]) => part(text, start, end)).filter((p) => p.sql.trim() !== "");
}

// A selection that covers several statements runs each of them; else it is one statement.
function inside(text, statements, from, to) {
  const own = statements.filter(([start, end]) => start < to && end > from);
  const pieces = own.map(([start, end]) => [Math.max(start, from), Math.min(end, to)]);
  const list = pieces.length ? pieces : [[from, to]];
  return list.map(([start, end]) => part(text, start, end)).filter((p) => p.sql.trim() !== "");
}

const part = (text, start, end) => ({ sql: text.slice(start, end), start });

/**
 * Runs parts in order, as { done, cancel }. `on.started(part, number)`, `on.answer(part, answer)`
 * and `on.failed(part, error)` tell of each; after a failure nothing more runs. `done` resolves
 * when all have ended.
 */
export function runAll(parts, parametersOf, on) {
  let current = null;
  let isCancelled = false;
  const run = async () => {
    for (const [number, part] of parts.entries()) {
      if (isCancelled) return;
      on.started(part, number);
      current = startQuery(part.sql, { parameters: parametersOf(part.sql) });
      try {
        on.answer(part, await current.answer);
      } catch (error) {
        on.failed(part, isCancelled ? { message: "Cancelled.", isCancelled } : error);
        return;
      }
    }
  };
  const cancel = () => {
    isCancelled = true;
    if (current) current.cancel();
  };
  return { done: run(), cancel };
}

/** The place of an error in the whole text: { start, end }, or null if it has none. */
export function errorPlace({ start, end }, part) {
  if (start === undefined || start === null) return null;
  const last = Math.max(end ?? start + 1, start + 1);
  return { start: part.start + start, end: part.start + Math.min(last, part.sql.length + 1) };
}
