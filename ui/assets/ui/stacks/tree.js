// Stacks as a tree of frames: the parts of the flame graph and of the sandwich view.

/**
 * A tree: { names, parent, name, own, base, total, baseTotal, children, depth }, each by the number
 * of a node; node 0 is the root, parents come before their children, and children are in the order
 * of their size, the largest first. `base` and `baseTotal` are zero without a second input.
 */
class Tree {
  constructor(names, isCompared) {
    Object.assign(this, { names, isCompared });
    for (const key of ["parent", "name", "own", "base"]) this[key] = [];
    this.known = new Map();
    this.add(-1, -1);
  }

  add(parent, name) {
    this.parent.push(parent);
    this.name.push(name);
    this.own.push(0);
    this.base.push(0);
    return this.parent.length - 1;
  }

  /** The child of a node with a name, which is made if there is none. */
  child(parent, name) {
    const key = parent * (this.names.length + 1) + name;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.add(parent, name);
      this.known.set(key, node);
    }
    return node;
  }

  /** Computes totals and the order of children, after the last node was added. */
  finish() {
    this.known.clear();
    const count = this.parent.length;
    this.total = Float64Array.from(this.own);
    this.baseTotal = Float64Array.from(this.base);
    this.children = Array.from({ length: count }, () => []);
    this.depth = new Int32Array(count);
    for (let node = count - 1; node > 0; node -= 1) {
      this.total[this.parent[node]] += this.total[node];
      this.baseTotal[this.parent[node]] += this.baseTotal[node];
    }
    for (let node = 1; node < count; node += 1) {
      this.children[this.parent[node]].push(node);
      this.depth[node] = this.depth[this.parent[node]] + 1;
    }
    const size = (node) => this.size(node);
    for (const list of this.children) list.sort((a, b) => size(b) - size(a) || a - b);
    return this;
  }

  /** What the width of a frame stands for: its total, or those of both inputs together. */
  size(node) {
    return this.total[node] + this.baseTotal[node];
  }

  nameOf(node) {
    return node === 0 ? "(all)" : this.names[this.name[node]];
  }
}

/** The tree of an answer of /api/stacks, whose nodes are [parent, name, own, own of the base]. */
export function treeOf({ names, nodes, is_compared: isCompared }) {
  const tree = new Tree(names, Boolean(isCompared));
  for (const [parent, name, own, base] of nodes) {
    const node = tree.add(parent < 0 ? 0 : parent + 1, name);
    tree.own[node] = Number(own);
    tree.base[node] = isCompared ? Number(base) : 0;
  }
  return tree.finish();
}

/** The same tree without frames that are in a frame of the same name. */
export function collapsed(tree) {
  const made = new Tree(tree.names, tree.isCompared);
  const place = new Int32Array(tree.parent.length);
  for (let node = 1; node < tree.parent.length; node += 1) {
    const above = place[tree.parent[node]];
    const isWithin = hasAbove(made, above, tree.name[node]);
    const own = isWithin ? above : made.child(above, tree.name[node]);
    place[node] = own;
    made.own[own] += tree.own[node];
    made.base[own] += tree.base[node];
  }
  return made.finish();
}

function hasAbove(tree, from, name) {
  for (let at = from; at > 0; at = tree.parent[at]) if (tree.name[at] === name) return true;
  return false;
}

// Frames of a name that are in no other frame of that name, so that sums count once.
function outermost(tree, name) {
  const found = [];
  for (let node = 1; node < tree.parent.length; node += 1) {
    if (tree.name[node] !== name || hasAbove(tree, tree.parent[node], name)) continue;
    found.push(node);
  }
  return found;
}

/** What all frames of a name call, as a tree with that name below its root. */
export function callees(tree, name) {
  const made = new Tree(tree.names, tree.isCompared);
  const stack = outermost(tree, name).map((node) => [node, made.child(0, name)]);
  while (stack.length) {
    const [node, own] = stack.pop();
    made.own[own] += tree.own[node];
    made.base[own] += tree.base[node];
    for (const child of tree.children[node]) stack.push([child, made.child(own, tree.name[child])]);
  }
  return made.finish();
}

/** Who calls the frames of a name: a tree with that name below its root, and callers inside. */
export function callers(tree, name) {
  const made = new Tree(tree.names, tree.isCompared);
  for (const node of outermost(tree, name)) {
    let own = made.child(0, name);
    for (let at = tree.parent[node]; at > 0; at = tree.parent[at])
      own = made.child(own, tree.name[at]);
    made.own[own] += tree.total[node];
    made.base[own] += tree.baseTotal[node];
  }
  return made.finish();
}

/** Sums by name: { name, own, total, base, baseTotal, frames }; totals count recursion once. */
export function byName(tree) {
  const sums = new Map();
  for (let node = 1; node < tree.parent.length; node += 1) {
    const name = tree.name[node];
    if (!sums.has(name))
      sums.set(name, { name, own: 0, total: 0, base: 0, baseTotal: 0, frames: 0 });
    const sum = sums.get(name);
    sum.own += tree.own[node];
    sum.base += tree.base[node];
    sum.frames += 1;
    if (hasAbove(tree, tree.parent[node], name)) continue;
    sum.total += tree.total[node];
    sum.baseTotal += tree.baseTotal[node];
  }
  return [...sums.values()];
}

/** Frames whose name has a text: { hits: Set of nodes, total, share of the whole }. */
export function find(tree, text) {
  const wanted = text.toLowerCase();
  const isHit = tree.names.map((name) => wanted !== "" && name.toLowerCase().includes(wanted));
  const hits = new Set();
  const inside = new Uint8Array(tree.parent.length);
  let total = 0;
  for (let node = 1; node < tree.parent.length; node += 1) {
    const isAround = inside[tree.parent[node]];
    inside[node] = isAround;
    if (!isHit[tree.name[node]]) continue;
    hits.add(node);
    inside[node] = 1;
    if (!isAround) total += tree.total[node];
  }
  return { hits, total };
}
