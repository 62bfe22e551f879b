// The category of each name, for the colours. The engine is asked once, because pictures hold names
// only.
import { CATEGORY_SQL } from "./sql.js";

const MAX_NAMES = 10_000;

/** Gives the colours of `tl` the categories; the commonest come first. */
export async function loadCategories(tl, ask) {
  const id = "timeline-categories";
  const body = { id, sql: CATEGORY_SQL, parameters: {}, max_rows: MAX_NAMES };
  const { rows } = await ask("/api/query", body);
  const pairs = rows.map(([name, category]) => [name, category ?? "none"]);
  tl.categories = [...new Set(pairs.map(([, category]) => category))];
  tl.colours.setCategories(new Map(pairs), tl.categories);
}
