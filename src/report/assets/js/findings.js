// What rules found: the value with numerator and denominator, advice, and the query that shows it.
import { el } from "../../../../web/base/elements.js";
import { exact, human } from "../../../../web/base/format.js";
import { missing, rest, rows } from "./data.js";
import { copyable, notice, panel, restNotice, sentence } from "./panels.js";

export function findingsTab() {
  const why = missing("findings");
  if (why) return [panel("findings", notice(why))];
  const all = rows("findings");
  const by = (status) => all.filter((f) => f.status === status);
  const found = by("finding");
  const silent = by("not_measurable");
  const good = by("ok");
  const left = rest("findings");
  return [
    panel(
      "findings",
      found.length
        ? found.map((f) => findingBox(f, false))
        : el("p", { class: "quiet" }, "No rule has a finding."),
      left ? restNotice(left, "more row") : null,
    ),
    silent.length
      ? el(
          "section",
          { class: "panel" },
          el(
            "header",
            {},
            el("h2", {}, `Not measurable (${silent.length})`),
            el(
              "p",
              { class: "small" },
              "The trace lacks what these rules need, so they have no result.",
            ),
          ),
          silent.map((f) =>
            el(
              "div",
              { class: "finding" },
              el(
                "div",
                { class: "head" },
                el("span", { class: "badge" }, "not measurable"),
                el("code", {}, f.rule),
                el("span", { class: "quiet small" }, placeOf(f).slice(0, 300)),
              ),
              el("div", {}, sentence(f.reason || "no reason given")),
            ),
          ),
        )
      : null,
    good.length
      ? el(
          "section",
          { class: "panel" },
          el("header", {}, el("h2", {}, `Fine (${good.length})`)),
          good.map((f) => findingBox(f, true)),
        )
      : null,
  ];
}

// The box of a finding; a short one has neither the subject nor the query.
export function findingBox(f, short) {
  const unit = f.unit || "number";
  const limit = f.threshold === null ? "" : `, limit ${human(f.threshold, unit)}`;
  const figure = f.value === null ? null : `${human(f.value, unit)}${limit}`;
  const place = placeOf(f);
  return el(
    "article",
    { class: `finding ${f.status === "finding" ? f.severity || "info" : "fine"}` },
    el(
      "div",
      { class: "head" },
      el(
        "span",
        { class: `badge ${f.status === "finding" ? f.severity || "" : "ok"}` },
        f.status === "finding" ? f.severity || "info" : "ok",
      ),
      el("code", {}, f.rule),
      figure
        ? el("span", { class: "quiet small", title: `${exact(f.value, unit)}` }, figure)
        : null,
    ),
    el("div", { class: "message" }, f.message || ""),
    short && f.status === "finding"
      ? null
      : place
        ? el("div", { class: "quotient" }, place.slice(0, 400))
        : null,
    f.numerator !== null && f.denominator !== null && !short
      ? el(
          "div",
          { class: "quotient" },
          `${quantity(f.numerator, f.numerator_name)} of ` +
            quantity(f.denominator, f.denominator_name),
        )
      : null,
    f.advice && f.status === "finding" ? el("div", { class: "advice" }, f.advice) : null,
    f.evidence && !short
      ? el(
          "details",
          { class: "query", open: true },
          el("summary", {}, "Evidence (SQL)"),
          copyable(f.evidence),
        )
      : null,
  );
}

// What a row is about: subject, step, device.
function placeOf(f) {
  const device = f.device === null ? null : f.device < 0 ? "host" : `device ${f.device}`;
  return [f.subject, f.step === null ? null : `step ${f.step}`, device].filter(Boolean).join(" · ");
}

// A number with its name, which ends in a comma and the unit.
function quantity(value, name) {
  const unit = /, (ns|bytes|count)$/.exec(name || "");
  return `${exact(value, unit ? unit[1] : "count")}${name ? ` (${name})` : ""}`;
}
