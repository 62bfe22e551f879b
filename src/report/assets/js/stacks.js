// Stacks: flame graph and sunburst.
function flameTab() {
  return [panelOr("flame", () => flameGraph("flame"))];
}

function sunburstTab() {
  return [panelOr("call_graph", () => sunburst("call_graph"))];
}
