// The ranks of a job side by side.
const RANK_PARTS = [["computation_ns", "computation", "compute"], ["exposed_communication_ns", "exposed communication", "comm"], ["overlap_ns", "communication behind computation", "runtime"]];

function ranksTab() {
  const job = allRows("ranks");
  const waits = allRows("stragglers");
  const with_trace = (key) => el("div", {}, tableOf(key, { rows: allRows(key) }));
  return [
    job.length ? panel("ranks", rankBars(job), with_trace("ranks")) : panel("ranks", notice(missing("ranks") || { reason: "no rows" })),
    waits.length ? panel("stragglers", waitBars(waits), with_trace("stragglers")) : panel("stragglers", notice(missing("stragglers") || { reason: "no rows" })),
    allRows("collectives").length ? panel("collectives", with_trace("collectives")) : null,
  ];
}

function rankLabel(r) {
  return r.rank === null ? "rank ?" : `rank ${r.rank}`;
}

function rankBars(list) {
  return rankChart(list, RANK_PARTS, "computation and communication of each rank");
}

function waitBars(list) {
  return rankChart(list, [["transfer_ns", "exchange", "comm"], ["wait_ns", "waiting for others", "data"]], "time of each rank in collectives");
}

function rankChart(list, parts, label) {
  const formatter = ([first]) => {
    const row = list[first.dataIndex];
    return tip(rankLabel(row), parts.map(([name, text, tint]) => [colour(tint), text, exact(row[name], "ns")]));
  };
  return chart("low", () => ({
    grid: { left: 8, right: 12, top: 34, bottom: 8, containLabel: true },
    legend: legend(parts.map((p) => p[1])),
    tooltip: tooltip(formatter, { trigger: "axis", axisPointer: { type: "shadow" } }),
    xAxis: { type: "value", ...axis({ label: { formatter: ns } }) },
    yAxis: { type: "category", inverse: true, data: list.map((r) => (list.filter((x) => x.rank === r.rank).length > 1 && r.place ? `${rankLabel(r)}, ${r.place}` : rankLabel(r))), ...axis() },
    series: parts.map(([name, text, tint]) => ({ type: "bar", stack: "all", name: text, barMaxWidth: 34, itemStyle: { color: colour(tint) }, emphasis: { disabled: true }, data: list.map((r) => r[name] || 0) })),
  }), label);
}
