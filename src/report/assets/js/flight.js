// Dumps of the flight recorder: what the job hangs on.
import { panelOr } from "./panels.js";
import { tableOf } from "./table.js";

export function flightTab() {
  return [panelOr("flight_hangs", () => tableOf("flight_hangs"))];
}
