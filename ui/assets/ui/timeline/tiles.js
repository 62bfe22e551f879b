// Pictures of tracks: a tile is one track by 1,024 buckets of one step. It is painted once, moved
// while the view moves, and stretched while the view zooms. The least recently used ones go first.
import { TILE_BUCKETS } from "./viewport.js";

const MAX_BYTES = 64 * 2 ** 20;
/** Tiles may be painted for so many milliseconds of one frame. */
const BUDGET_MS = 7;

/** A cache of tiles. `paint(context, request, scale, width)` draws one; false without data. */
export function tileCache(paint) {
  const tiles = new Map();
  let bytes = 0;
  let deadline = 0;
  let isShort = false;

  const nameOf = ({ key, part, step, number, version }) =>
    `${key}|${part}|${step}|${number}|${version}`;

  function drop(name) {
    bytes -= tiles.get(name).bytes;
    tiles.delete(name);
  }

  function keep(name, tile) {
    if (tiles.has(name)) drop(name);
    tiles.set(name, tile);
    bytes += tile.bytes;
    for (const other of tiles.keys()) {
      if (bytes <= MAX_BYTES || other === name) break;
      drop(other);
    }
  }

  function touch(name, tile) {
    tiles.delete(name);
    tiles.set(name, tile);
    return tile;
  }

  /** Begins a frame. */
  function begin() {
    deadline = performance.now() + BUDGET_MS;
    isShort = false;
  }

  /**
   * The tile of a request { key, part, step, number, version, height }, painted at `scale` (device
   * pixels per nanosecond) if there is time and data. An older one at another scale is given until
   * then; null if there is none. While the view is zoomed (`isMoving`) old ones are good enough.
   */
  function get(request, scale, isMoving) {
    const name = nameOf(request);
    const old = tiles.get(name);
    if (old && (old.scale === scale || isMoving)) return touch(name, old);
    if (performance.now() > deadline) {
      isShort = true;
      return old || null;
    }
    const width = Math.ceil(TILE_BUCKETS * request.step * scale) + 1;
    const height = Math.max(1, request.height);
    const canvas = new OffscreenCanvas(width, height);
    const isPainted = paint(canvas.getContext("2d"), request, scale, width);
    if (!isPainted) return old || null;
    const tile = { canvas, scale, width, height, bytes: 4 * width * height };
    keep(name, tile);
    return tile;
  }

  /** A tile that was painted before, or null. */
  function peek(request) {
    const name = nameOf(request);
    const tile = tiles.get(name);
    return tile ? touch(name, tile) : null;
  }

  function clear() {
    tiles.clear();
    bytes = 0;
  }

  return { begin, get, peek, clear, isShort: () => isShort, bytes: () => bytes };
}
