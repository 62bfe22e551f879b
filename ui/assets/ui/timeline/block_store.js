// Blocks by track and step. The least recently used ones are forgotten when there are too many
// entries.

/** So many entries are kept; one takes about 32 bytes. */
const MAX_ENTRIES = 1_500_000;

/** A store of blocks. */
export function blockStore() {
  const blocks = new Map();
  let entries = 0;
  const nameOf = (key, step) => `${key}|${step}`;

  function drop(name) {
    const block = blocks.get(name);
    if (!block) return;
    entries -= block.size;
    blocks.delete(name);
  }

  /** Keeps a block in place of an earlier one of the same track and step. */
  function put(key, block) {
    const name = nameOf(key, block.step);
    drop(name);
    blocks.set(name, block);
    entries += block.size;
    for (const other of blocks.keys()) {
      if (entries <= MAX_ENTRIES || other === name) break;
      drop(other);
    }
  }

  /** The block of a track and step that holds all of [from, to), or null. */
  function covering(key, step, from, to) {
    const name = nameOf(key, step);
    const block = blocks.get(name);
    if (!block || block.from > from || block.to < to) return null;
    blocks.delete(name);
    blocks.set(name, block);
    return block;
  }

  function clear() {
    blocks.clear();
    entries = 0;
  }

  return { put, covering, clear, size: () => entries };
}
