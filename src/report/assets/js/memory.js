// Memory over time, its peaks, and what held it then.
function memoryTab() {
  return [...curves(), panelOr("memory_peaks", () => tableOf("memory_peaks")), panelOr("memory_at_peak", () => tableOf("memory_at_peak", { only: ["device_type", "device", "kind", "op_name", "module_path", "step", "allocations", "bytes", "share_pct"] }))];
}

function curves() {
  const why = missing("memory_curve");
  if (why) return [why.status === "not_applicable" ? null : panel("memory_curve", notice(why))];
  const all = rows("memory_curve");
  const peak = (name) => all.reduce((most, r) => (deviceName(r) === name ? Math.max(most, r.peak_allocated_bytes) : most), 0);
  return [...new Set(all.map(deviceName))].sort((a, b) => peak(b) - peak(a)).map((name) => {
    const list = all.filter((r) => deviceName(r) === name);
    const lines = [{ name: "allocated", tint: "compute", points: points(list, "allocated_bytes") }];
    if (list.some((r) => r.peak_reserved_bytes > 0)) lines.push({ name: "reserved by the allocator", tint: "comm", dashed: true, points: points(list, "reserved_bytes") });
    const top = list.reduce((a, b) => (b.peak_allocated_bytes > a.peak_allocated_bytes ? b : a));
    const box = panel("memory_curve", memoryChart(lines, rows("traces")[0].duration_ns, [{ coord: [top.peak_at_ns, top.peak_allocated_bytes] }]));
    box.querySelector("h2").textContent = `${section("memory_curve").title}: ${name}`;
    return box;
  });
}

// Of each stretch its highest value and its last one, in the order of time.
function points(list, what) {
  return list.flatMap((r) => {
    const peak = [r.peak_at_ns, r[`peak_${what}`]];
    const last = [r.last_at_ns, r[`last_${what}`]];
    return peak[0] === last[0] ? [last] : [peak, last];
  }).filter(([, value]) => value !== null && value !== undefined);
}
