// The comparisons of two traces: what each is about, and its statement.
import { literal } from "../parts/query.js";

/** Rows of a table; the largest differences come first. */
const MOST = 1000;

const treeSql = (names, view, where) =>
  `SELECT ${names}, host_total_delta_ns, host_total_delta_pct, base_host_total_ns,\n` +
  "    cand_host_total_ns, host_self_delta_ns, device_total_delta_ns, base_device_total_ns,\n" +
  `    cand_device_total_ns, calls_delta, base_calls, cand_calls\nFROM ${view}\n${where}\n` +
  `ORDER BY abs(host_total_delta_ns) DESC\nLIMIT ${MOST}`;

/** The tables, in the order of the page: { key, title, about, sql(base, cand) }. */
export const TABLES = [
  {
    key: "steps",
    view: "step_time_diff",
    title: "Steps",
    about: "The mean step and its parts. The part total is the whole step.",
    sql: (where) =>
      `SELECT part, base_ns, cand_ns, delta_ns, delta_pct\nFROM step_time_diff\n${where}\n` +
      "ORDER BY CASE part WHEN 'total' THEN 0 ELSE 1 END, abs(delta_ns) DESC",
  },
  {
    key: "operators",
    view: "operator_diff",
    title: "Operators",
    about: "Operators by name; the largest difference of host time without what is inside first.",
    sql: (where) =>
      "SELECT name, status, host_self_delta_ns, host_self_delta_pct, base_host_self_ns,\n" +
      "    cand_host_self_ns, device_total_delta_ns, device_total_delta_pct,\n" +
      "    base_device_total_ns, cand_device_total_ns, calls_delta, base_calls, cand_calls\n" +
      `FROM operator_diff\n${where}\nORDER BY abs(host_self_delta_ns) DESC\nLIMIT ${MOST}`,
  },
  {
    key: "kernels",
    view: "kernel_diff",
    title: "Kernels",
    about: "Kernels by name; the largest difference of their time first.",
    sql: (where) =>
      "SELECT name, status, total_delta_ns, total_delta_pct, base_total_ns, cand_total_ns,\n" +
      `    calls_delta, base_calls, cand_calls\nFROM kernel_diff\n${where}\n` +
      `ORDER BY abs(total_delta_ns) DESC\nLIMIT ${MOST}`,
  },
  {
    key: "modules",
    view: "module_diff",
    title: "Modules",
    about: "Modules of the model by path; the largest difference of host time first.",
    sql: (where) => treeSql("path, status", "module_diff", where),
  },
  {
    key: "subtrees",
    view: "subtree_diff",
    title: "Call graph",
    about: "Every subtree of calls, to follow a difference down to where it comes from.",
    sql: (where) => treeSql("depth, name, status", "subtree_diff", where),
  },
  {
    key: "verdicts",
    view: "comparison",
    title: "Verdicts",
    about:
      "Which differences are more than noise, by the spread over steps. The sides are those of " +
      "the settings compare_base and compare_candidate, else the earliest and the latest trace.",
    isOfSides: true,
    sql: () =>
      "SELECT dimension, key, measure, verdict, base_ns, cand_ns, delta_ns, delta_pct,\n" +
      "    base_steps, cand_steps\nFROM comparison\n" +
      "ORDER BY CASE WHEN verdict IN ('slower', 'faster', 'mixed', 'added', 'removed') THEN 0 " +
      `ELSE 1 END,\n    abs(delta_ns) DESC\nLIMIT ${MOST}`,
  },
];

/** The statement of a table for two traces. */
export function statementOf({ sql }, base, cand) {
  const where = `WHERE base_trace_id = ${literal(base)} AND cand_trace_id = ${literal(cand)}`;
  return sql(where);
}
