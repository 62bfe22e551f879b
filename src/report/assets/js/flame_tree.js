// Other views of a tree of stacks: found frames, callers, frames without Python, leading frames.
import { kindOf } from "./stack_tree.js";

/** Gives each node its kind, which the views below keep. */
export function withKinds(nodes) {
  for (const node of nodes) node.kind = node.parent ? kindOf(node) : "k-root";
}

function madeNode(name, kind, parent, measures) {
  const own = new Array(measures).fill(0);
  return { name, kind, parent, children: [], merged: 0, own, total: own.slice() };
}

function addTo(sums, values) {
  for (let i = 0; i < sums.length; i += 1) sums[i] += values[i];
}

/**
 * The same tree without Python frames: what they spent themselves goes to the frame around them,
 * and frames that become siblings of the same name become one. `nodes` lists parents first.
 */
export function withoutPython(nodes) {
  const measures = nodes[0].own.length;
  const placed = new Map();
  const known = new Map();
  const made = [];
  const make = (node, parent) => {
    made.push(madeNode(node.name, node.kind, parent, measures));
    if (parent) parent.children.push(made[made.length - 1]);
    return made[made.length - 1];
  };
  const childOf = (parent, node) => {
    if (!known.has(parent)) known.set(parent, new Map());
    const children = known.get(parent);
    const key = `${node.kind} ${node.name}`;
    if (!children.has(key)) children.set(key, make(node, parent));
    return children.get(key);
  };
  for (const node of nodes) {
    const parent = node.parent && placed.get(node.parent);
    const isHidden = parent && node.kind === "k-python";
    const own = isHidden ? parent : parent ? childOf(parent, node) : make(node, null);
    placed.set(node, own);
    addTo(own.own, node.own);
    if (!isHidden) own.merged += node.merged;
  }
  for (const node of made.slice().reverse()) {
    addTo(node.total, node.own);
    if (node.parent) addTo(node.parent.total, node.total);
  }
  return made;
}

/**
 * Marks the frames whose name contains a text: `isHit`; `isInside`, in a hit or a hit itself;
 * `isWay`, a hit is inside or it is one itself. Returns how many frames match, the sums of the
 * outermost ones, and the sums of merged frames outside of them, whose names are not known.
 */
export function find(nodes, text) {
  const wanted = text.toLowerCase();
  const found = { frames: 0, total: nodes[0].own.map(() => 0), unknown: nodes[0].own.map(() => 0) };
  for (const node of nodes) {
    const isAround = node.parent ? node.parent.isInside : false;
    node.isHit = wanted !== "" && !node.merged && node.name.toLowerCase().includes(wanted);
    node.isInside = isAround || node.isHit;
    node.isWay = false;
    if (node.isHit) {
      found.frames += 1;
      for (let at = node; at && !at.isWay; at = at.parent) at.isWay = true;
    }
    if (node.isHit && !isAround) addTo(found.total, node.total);
    if (node.merged && !isAround) addTo(found.unknown, node.own);
  }
  return found;
}

/**
 * The inverted tree: below the root are the frames that spent the time themselves, and below each
 * frame its callers. Frames are made when they are first asked for, because there may be many.
 */
export function callers(nodes) {
  const spent = nodes.filter((n) => n.parent && n.own.some((value) => value > 0));
  const root = invertedNode(nodes[0].name, nodes[0].kind, null, []);
  root.total = nodes[0].total.slice();
  root.own = root.total.map(() => 0);
  root.made = grouped(
    root,
    spent.map((n) => ({ at: n, own: n.own })),
  );
  return root;
}

// `items` are the stacks that a node stands for: the frame of the stack and what the stack spent.
function invertedNode(name, kind, parent, items) {
  return {
    name,
    kind,
    parent,
    items,
    merged: 0,
    made: null,
    get children() {
      if (!this.made) {
        const outer = this.items.filter(({ at }) => at.parent && at.parent.parent);
        this.made = grouped(
          this,
          outer.map(({ at, own }) => ({ at: at.parent, own })),
        );
      }
      return this.made;
    },
    get isHit() {
      return this.items.length > 0 && this.items[0].at.isHit;
    },
    get isWay() {
      return this.items.some(({ at }) => at.isInside);
    },
  };
}

function grouped(parent, items) {
  const groups = new Map();
  for (const item of items) {
    const key = `${item.at.kind} ${item.at.name}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups.values()].map((own) => {
    const { name, kind } = own[0].at;
    const node = invertedNode(name, kind, parent, own);
    node.total = own[0].own.map(() => 0);
    node.own = node.total.slice();
    for (const item of own) {
      addTo(node.total, item.own);
      node.merged += item.at.merged;
      // What is left when no caller is left.
      if (!item.at.parent.parent) addTo(node.own, item.own);
    }
    return node;
  });
}

/** A frame leads to the next one if that one holds this share of its value. */
const LEADING_SHARE = 0.99;

/** The frames from `node` on that only lead to the next one, as far as these are of Python. */
export function leading(node, measure) {
  const chain = [node];
  const isNext = (child, at) =>
    child.total[measure] >= LEADING_SHARE * at.total[measure] &&
    (child.kind === "k-python" || child.kind === "k-thread");
  for (let at = node; at;) {
    const from = at;
    at = from.children.find((child) => isNext(child, from));
    if (at) chain.push(at);
  }
  return chain;
}
