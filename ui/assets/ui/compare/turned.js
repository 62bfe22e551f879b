// A comparison seen from the other side.

/** An answer of the views of differences with base and candidate in each other's place. */
export function turned(answer) {
  const at = new Map(answer.columns.map((c, i) => [c.name, i]));
  const other = (name) =>
    name.startsWith("base_") ? name.replace(/^base_/, "cand_") : name.replace(/^cand_/, "base_");
  const rows = answer.rows.map((row) =>
    answer.columns.map(({ name }) => {
      if (/_delta(_ns|_bytes)?$|^delta_ns$/.test(name)) return minus(row[at.get(name)]);
      if (/delta_pct$/.test(name)) return percent(row, at, name);
      if (name === "status") return TURNED[row[at.get(name)]] || row[at.get(name)];
      return row[at.has(other(name)) ? at.get(other(name)) : at.get(name)];
    }),
  );
  return { ...answer, rows };
}

const TURNED = { added: "removed", removed: "added" };

function minus(value) {
  if (value === null) return null;
  if (typeof value === "string") return String(-BigInt(value));
  return value === 0 ? 0 : -value;
}

// The percentage is of the other side now.
function percent(row, at, name) {
  const stem = name.replace(/_?delta_pct$/, "");
  const value = (side) => {
    const key = [`${side}_${stem}_ns`, `${side}_${stem}`, `${side}_ns`].find((n) => at.has(n));
    return key === undefined ? null : row[at.get(key)];
  };
  const [base, cand] = [value("cand"), value("base")];
  if (base === null || cand === null || Number(base) === 0) return null;
  return (100 * (Number(cand) - Number(base))) / Number(base);
}
