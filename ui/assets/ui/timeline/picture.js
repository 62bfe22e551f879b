// Reads the binary answers of POST /api/slices. `ui/src/api/picture.rs` describes their parts.

/** Columns begin at multiples of this. */
const ALIGNMENT = 8;

/**
 * The answer in a buffer: { step, names, tracks }, where each track has a key and typed arrays over
 * the buffer. Numbers are little-endian, as they are on all machines that browsers run on.
 */
export function pictureIn(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, ALIGNMENT, length));
  const { step, names, tracks } = JSON.parse(text);
  const columns = columnsOf(buffer, ALIGNMENT + length);
  return { step, names, tracks: tracks.map((track) => columns.ofTrack(track)) };
}

function columnsOf(buffer, from) {
  let at = from;

  function next(Kind, size) {
    const column = new Kind(buffer, at, size);
    at += column.byteLength;
    return column;
  }

  // Columns follow one another in this order.
  function ofTrack({ key, spans, instants }) {
    at = Math.ceil(at / ALIGNMENT) * ALIGNMENT;
    return {
      key,
      start: next(Float64Array, spans),
      end: next(Float64Array, spans),
      at: next(Float64Array, instants),
      lane: next(Uint32Array, spans),
      id: next(Uint32Array, spans),
      name: next(Uint32Array, spans),
      count: next(Uint32Array, spans),
      at_id: next(Uint32Array, instants),
      at_name: next(Uint32Array, instants),
      at_count: next(Uint32Array, instants),
    };
  }

  return { ofTrack };
}
