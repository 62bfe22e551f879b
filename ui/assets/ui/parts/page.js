// What pages have in common: the state of the server, and the answer when it changes.
import { events, ready } from "../base/session.js";

/**
 * Calls `draw(state)` with the state of the server now and after each change of its traces, until
 * they are open. Resolves to the first state.
 */
export async function withState(draw) {
  const first = await ready;
  let shown = keyOf(first);
  draw(first);
  events((name, next) => {
    if (name !== "state" || keyOf(next) === shown) return;
    shown = keyOf(next);
    draw(next);
  });
  return first;
}

const keyOf = ({ status, traces, error }) =>
  JSON.stringify([status, error, traces.map((t) => t.trace_id)]);

/**
 * A function that calls `call` with its values `ms` milliseconds after it was last called itself.
 * Its `cancel()` takes the last call back.
 */
export function later(call, ms) {
  let timer = 0;
  const soon = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), ms);
  };
  soon.cancel = () => clearTimeout(timer);
  return soon;
}
