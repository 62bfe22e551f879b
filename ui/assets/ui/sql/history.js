// Statements that were run, kept in the storage of the browser, which is per port of the server.
const KEY = "tracesql-history";
/** Entries that are kept; the oldest go first. */
const MOST = 200;
/** Longer statements are not kept, in UTF-16 units. */
const MOST_TEXT = 50_000;

/** The entries, newest first: { sql, at (ms since 1970), ms, rows, error }. */
export function entries() {
  try {
    const list = JSON.parse(localStorage.getItem(KEY) || "[]");
    return Array.isArray(list) ? list.filter((e) => e && typeof e.sql === "string") : [];
  } catch {
    return [];
  }
}

/** Adds an entry; the same statement before it goes. */
export function remember(entry) {
  if (entry.sql.length > MOST_TEXT) return;
  const others = entries().filter((e) => e.sql !== entry.sql);
  store([{ ...entry, at: Date.now() }, ...others].slice(0, MOST));
}

/** Forgets all entries. */
export function forgetAll() {
  store([]);
}

function store(list) {
  try {
    localStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // Without storage there is no history.
  }
}
