// The reference as groups: tables, views by area, rules, functions, settings.

/** Groups of entries { name, kind, summary, title }, from the answer of /api/docs. */
export function groupsOf(docs) {
  const entry = (kind) => (one) => ({ ...one, kind });
  const views = docs.views.map(entry("view"));
  const areas = [...new Set(views.filter((v) => !v.is_rule).map((v) => v.area))].sort();
  const group = (title, entries) => ({ title, entries });
  return [
    group("Tables", docs.tables.map(entry("table"))),
    ...areas.map((area) =>
      group(
        `Views: ${area}`,
        views.filter((v) => v.area === area && !v.is_rule),
      ),
    ),
    group(
      "Rules",
      views.filter((v) => v.is_rule),
    ),
    group("Functions", docs.functions.map(entry("function"))),
    group("Settings", docs.settings.map(entry("setting"))),
  ].filter(({ entries }) => entries.length);
}

/** The groups with the entries that have all words of a text; those with them in the name first. */
export function search(groups, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return groups;
  const inName = ({ name }) => words.every((w) => name.toLowerCase().includes(w));
  const inAll = ({ name, summary }) =>
    words.every((w) => `${name} ${summary || ""}`.toLowerCase().includes(w));
  return groups
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter(inAll).sort((a, b) => inName(b) - inName(a)),
    }))
    .filter(({ entries }) => entries.length);
}
