// Asks the server for what is in sight: one request for the slices of all tracks and one for the
// counters, with one screen more on each side. A request that no longer fits is aborted.
import { counterBlock, sliceBlock } from "./blocks.js";
import { pictureIn } from "./picture.js";
import { TILE_BUCKETS } from "./viewport.js";

/** Two requests are at least so many milliseconds apart. */
const LEAST_WAIT_MS = 40;
/** After an error, nothing is asked for so many milliseconds. */
const ERROR_WAIT_MS = 2000;

/**
 * A loader. `ask(path, body, { signal, as })` resolves to the answer, `local(track, range)` gives the
 * block of a track that the page itself holds, `arrived(tracks, range)` and `failed(error)` are
 * called.
 */
export function loaderOf({ view, store, ask, local, arrived, failed }) {
  let pending = null;
  let timer = null;
  let notBefore = 0;
  let isQuiet = false;
  // Screens on each side; none after an answer would have been too large, until the step changes.
  let padding = 1;
  let paddedStep = 0;
  const waiting = [];

  /** Looks whether something is missing for these tracks at this step, and asks for it. */
  function check(tracks, step) {
    if (step !== paddedStep) [padding, paddedStep] = [1, step];
    const margin = (padding * view.span()) / 4;
    const from = Math.max(0, view.start - margin);
    const to = Math.min(view.length, view.end + margin);
    const missing = tracks.filter((track) => !store.covering(track.key, step, from, to));
    isQuiet = missing.length === 0;
    if (isQuiet) {
      waiting.splice(0).forEach((done) => done());
      return;
    }
    if (pending && isEnough(pending, missing, step)) return;
    if (pending) pending.controller.abort();
    pending = null;
    if (timer === null) schedule(tracks, step);
    else timer.next = [tracks, step];
  }

  // A request still fits if it brings all of what is in sight now.
  function isEnough(request, missing, step) {
    return (
      request.range.step === step &&
      request.range.from <= view.start &&
      request.range.to >= Math.min(view.end, view.length) &&
      missing.every((track) => request.keys.has(track.key))
    );
  }

  function schedule(tracks, step) {
    const wait = Math.max(0, notBefore - performance.now());
    const planned = { next: [tracks, step] };
    timer = planned;
    setTimeout(() => {
      timer = null;
      send(...planned.next);
    }, wait);
  }

  function rangeOf(step) {
    const tile = TILE_BUCKETS * step;
    const more = padding * view.span();
    const from = Math.max(0, Math.floor((view.start - more) / tile) * tile);
    const to = Math.ceil(Math.min(view.length, view.end + more) / tile) * tile;
    return { step, from, to };
  }

  async function send(tracks, step) {
    const range = rangeOf(step);
    const missing = tracks.filter((t) => !store.covering(t.key, step, range.from, range.to));
    const own = missing.filter((t) => t.isLocal);
    own.forEach((track) => store.put(track.key, local(track, range)));
    const controller = new AbortController();
    const request = { range, controller, keys: new Set(missing.map((t) => t.key)) };
    pending = request;
    notBefore = performance.now() + LEAST_WAIT_MS;
    try {
      await Promise.all([
        slices(
          missing.filter((t) => !t.isLocal && !t.isCounter),
          range,
          controller.signal,
        ),
        counters(
          missing.filter((t) => !t.isLocal && t.isCounter),
          range,
          controller.signal,
        ),
      ]);
    } catch (error) {
      controller.abort();
      if (error.name === "AbortError" || pending !== request) return;
      if (error.status === 400 && padding > 0) padding = 0;
      else {
        notBefore = performance.now() + ERROR_WAIT_MS;
        failed(error);
      }
    }
    if (pending === request) pending = null;
    arrived(missing, range);
  }

  async function slices(tracks, range, signal) {
    if (!tracks.length) return;
    const body = { ...bodyOf(tracks, range), format: "binary" };
    const response = await ask("/api/slices", body, { signal, as: "response" });
    const answer = pictureIn(await response.arrayBuffer());
    const byKey = new Map(answer.tracks.map((t) => [t.key, t]));
    for (const { key } of tracks)
      store.put(key, sliceBlock(byKey.get(key), answer.names || [], range));
  }

  async function counters(tracks, range, signal) {
    if (!tracks.length) return;
    const answer = await ask("/api/counters", bodyOf(tracks, range), { signal });
    const byKey = new Map(answer.tracks.map((t) => [t.key, t]));
    for (const { key } of tracks) store.put(key, counterBlock(byKey.get(key), range));
  }

  const bodyOf = (tracks, { from, to, step }) => ({
    tracks: tracks.map((t) => t.key),
    start: from,
    end: Math.min(to, Number.MAX_SAFE_INTEGER),
    step,
  });

  /** Resolves when all that is in sight is there. */
  const settled = () => new Promise((done) => waiting.push(done));
  return { check, settled, isQuiet: () => isQuiet };
}
