// Cards with the main figures, for the first tab.
import { NONE, bytes, exact, grouped, human, many, ns, pct } from "../../../../web/base/format.js";
import { deviceName, isApplicable, missing, rows } from "./data.js";
import { card } from "./panels.js";

export function cards(facts, input) {
  const list = [];
  if (facts)
    list.push(
      card(
        "Duration",
        ns(facts.duration_ns),
        many(facts.events, "event"),
        exact(facts.duration_ns, "ns"),
      ),
    );
  else if (input)
    list.push(
      card(
        "Duration",
        ns(input.duration_ns),
        many(input.event_count, "event"),
        exact(input.duration_ns, "ns"),
      ),
    );
  const marked = rows("steps").filter((r) => r.first_step !== null);
  if (marked.length) {
    const steps = marked.reduce((sum, r) => sum + r.steps, 0);
    const total = marked.reduce((sum, r) => sum + r.total_ns, 0);
    list.push(
      card(
        "Mean step",
        ns(total / steps),
        many(steps, "step"),
        `${exact(total, "ns")} in ${many(steps, "step")}`,
      ),
    );
  } else if (facts && isApplicable("steps"))
    list.push(card("Steps", "not recorded", "prof.step() marks them"));
  const devices = rows("device_time");
  if (devices.length) {
    const busy = devices.reduce((sum, d) => sum + d.busy_time_ns, 0);
    const total = devices.reduce((sum, d) => sum + d.total_time_ns, 0);
    const named = devices.length === 1 ? deviceName(devices[0]) : `${devices.length} devices`;
    list.push(
      card(
        "GPU busy",
        total ? pct((100 * busy) / total) : NONE,
        `${ns(busy)} of ${ns(total)}, ${named}`,
        `${exact(busy, "ns")} of ${exact(total, "ns")}`,
      ),
    );
    const exposed = devices.reduce((sum, d) => sum + d.exposed_comm_time_ns, 0);
    const most = devices.reduce((sum, d) => sum + d.exposed_comm_max_ns, 0);
    if (most > exposed)
      list.push(
        card(
          "Exposed communication",
          `${((100 * exposed) / total).toFixed(1)}–${pct((100 * most) / total)}`,
          `${ns(exposed)} to ${ns(most)} of ${ns(total)}: some kernels are unclassified`,
          `${exact(exposed, "ns")} to ${exact(most, "ns")}`,
        ),
      );
    else if (exposed > 0)
      list.push(
        card(
          "Exposed communication",
          pct((100 * exposed) / total),
          `${ns(exposed)} of ${ns(total)}`,
          exact(exposed, "ns"),
        ),
      );
  } else if (facts && isApplicable("device_time"))
    list.push(
      card("GPU", "none", "no device activity in the trace", missing("device_time").reason),
    );
  for (const peak of rows("memory_peaks").slice(0, 2)) {
    const of = peak.total_memory_bytes
      ? `${pct(peak.peak_pct)} of ${bytes(peak.total_memory_bytes)}`
      : `after ${ns(peak.peak_at_ns)}`;
    list.push(
      card(
        `Memory peak, ${deviceName(peak)}`,
        bytes(peak.peak_allocated_bytes),
        of,
        exact(peak.peak_allocated_bytes, "bytes"),
      ),
    );
  }
  for (const m of rows("mllm_summary")) {
    list.push(
      card(
        "Memory peak",
        human(m.peak_bytes, "bytes"),
        `${many(m.blobs, "blob")} in ${many(m.lanes, "lane")}`,
        exact(m.peak_bytes, "bytes"),
      ),
    );
    list.push(
      card(
        "Alive at the end",
        human(m.alive_bytes, "bytes"),
        many(m.alive_blobs, "blob"),
        exact(m.alive_bytes, "bytes"),
      ),
    );
    list.push(card("Operations", human(m.operations, "count"), `on ${many(m.devices, "device")}`));
  }
  if (facts && facts.operators)
    list.push(
      card(
        "Operator calls",
        grouped(facts.operators),
        `${grouped(facts.host_threads)} host thread${facts.host_threads === 1 ? "" : "s"}`,
      ),
    );
  if (facts && facts.kernels)
    list.push(
      card(
        "Kernels",
        grouped(facts.kernels),
        `${grouped(facts.kernel_names)} names, ${grouped(facts.copies)} copies, ` +
          `${grouped(facts.fills)} fills`,
      ),
    );
  if (input && input.skipped_count)
    list.push(card("Skipped elements", grouped(input.skipped_count), "see Provenance"));
  return list;
}
