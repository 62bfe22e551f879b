// Charts: one place that knows the library, the colours and the look of tooltips.
const charts = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// An element with a chart; `option` is asked again when the colours change.
function chart(kind, option, label) {
  const element = el("div", { class: `chart ${kind}`, role: "img", "aria-label": label });
  const entry = { element, option, drawn: null };
  charts.push(entry);
  new ResizeObserver(() => {
    if (!element.clientWidth) return;
    if (entry.drawn) entry.drawn.resize();
    else paint(entry);
  }).observe(element);
  return element;
}

function paint(entry) {
  if (entry.drawn) entry.drawn.dispose();
  entry.drawn = echarts.init(entry.element, null, { renderer: "canvas" });
  entry.drawn.setOption({ ...look(), ...entry.option() });
  if (entry.ready) entry.ready();
}

function repaint() {
  charts.filter((c) => c.drawn && c.element.isConnected).forEach(paint);
}

function forgetCharts() {
  charts.splice(0).forEach((c) => c.drawn && c.drawn.dispose());
}

function look() {
  return {
    animation: false,
    textStyle: { fontFamily: colour("sans"), fontSize: 12, color: colour("quiet") },
    aria: { enabled: false },
  };
}

function axis(more = {}) {
  return {
    axisLine: { lineStyle: { color: colour("line") } },
    axisTick: { show: false },
    axisLabel: { color: colour("quiet"), hideOverlap: true, ...more.label },
    splitLine: { lineStyle: { color: colour("line"), opacity: 0.6 } },
    ...more.axis,
  };
}

function legend(data) {
  return { data, top: 0, left: 0, itemWidth: 11, itemHeight: 11, itemGap: 16, textStyle: { color: colour("quiet") }, type: "scroll", icon: "roundRect" };
}

function tooltip(formatter, more = {}) {
  return { confine: true, backgroundColor: colour("panel"), borderColor: colour("line"), padding: [8, 11], formatter, ...more };
}

// Zooming along the time axis by wheel and drag, and a bar for it.
function zoom() {
  return [
    { type: "inside", filterMode: "none" },
    { type: "slider", filterMode: "none", height: 16, bottom: 4, borderColor: "transparent", backgroundColor: colour("hover"), fillerColor: colour("accent-soft"), handleSize: "90%", showDetail: false, brushSelect: false, dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } }, selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } } },
  ];
}

// What a tooltip holds: a title and lines of [colour, label, value].
function tip(title, lines) {
  return el("div", { class: "tip" }, el("strong", {}, title), lines.map(([tint, label, value]) => el("div", {}, tint ? swatch(tint) : null, el("span", {}, label), el("span", {}, value))));
}

// Stacked bars over time or steps: parts are [column, label, colour], bars { at, label, row }; with
// a legend unless there is one above.
function stackedBars(bars, parts, total, label, hasLegend = true) {
  const shown = parts.filter(([name]) => bars.some((b) => b.row[name] > 0));
  const formatter = ([first]) => {
    const { row, label } = bars[first.dataIndex];
    return tip(label, [...shown.map(([name, text, tint]) => [colour(tint), text, `${ns(row[name])} · ${pct((100 * row[name]) / row[total] || 0)}`]), [null, "total", exact(row[total], "ns")]]);
  };
  return chart("", () => ({
    grid: { left: 8, right: 12, top: hasLegend ? 34 : 12, bottom: bars.length > 20 ? 30 : 8, containLabel: true },
    legend: hasLegend ? legend(shown.map(([, text]) => text)) : undefined,
    tooltip: tooltip(formatter, { trigger: "axis", axisPointer: { type: "shadow" } }),
    xAxis: { type: "category", data: bars.map((b) => b.at), ...axis() },
    yAxis: { type: "value", ...axis({ label: { formatter: ns } }) },
    dataZoom: bars.length > 20 ? zoom() : [],
    series: shown.map(([name, text, tint]) => ({ type: "bar", stack: "all", name: text, barMaxWidth: 64, barCategoryGap: bars.length > 60 ? "4%" : "22%", itemStyle: { color: colour(tint) }, emphasis: { disabled: true }, data: bars.map((b) => b.row[name]) })),
  }), label);
}

// Memory over time: a step line for each of [name, points of [ns, bytes], tint, dashed].
function memoryChart(lines, end, marks = []) {
  const most = lines.flatMap((l) => l.points).reduce((all, p) => Math.max(all, p[1]), 1);
  const step = 2 ** Math.ceil(Math.log2(most / 5));
  const text = (list) => [...list].map((p) => [p.color, p.seriesName, bytes(p.value[1])]);
  return chart("", () => ({
    grid: { left: 8, right: 18, top: 34, bottom: 30, containLabel: true },
    legend: legend(lines.map((l) => l.name)),
    tooltip: tooltip((list) => tip(`after ${ns(list[0].value[0])}`, text(list)), { trigger: "axis" }),
    xAxis: { type: "value", min: 0, max: end, ...axis({ label: { formatter: ns } }), splitLine: { show: false } },
    // Whole powers of two between the lines.
    yAxis: { type: "value", interval: step, max: Math.ceil(most / step) * step, ...axis({ label: { formatter: bytes } }) },
    dataZoom: zoom(),
    series: lines.map((l, i) => ({
      type: "line", step: "end", name: l.name, showSymbol: false, data: l.points,
      lineStyle: { width: 1.6, color: colour(l.tint), type: l.dashed ? "dashed" : "solid" }, itemStyle: { color: colour(l.tint) },
      areaStyle: l.dashed ? undefined : { color: colour(l.tint), opacity: 0.13 }, emphasis: { disabled: true },
      markPoint: i === 0 && marks.length ? { symbol: "circle", symbolSize: 8, data: marks, label: { position: "top", distance: 6, color: colour("ink"), fontWeight: 600, formatter: (m) => bytes(m.data.coord[1]) }, itemStyle: { color: colour("high") } } : undefined,
    })),
  }), "memory over time");
}
