//! The longest path of a graph.

use super::edges::Graph;

/// Returns for each edge whether it is on the longest path. Negative weights count as 0. Of equal
/// paths the one that was found first wins; nodes are visited in HTA's topological order.
pub fn longest(graph: &Graph<'_>) -> Vec<bool> {
    let count = graph.nodes.len();
    let mut first = vec![0usize; count + 1];
    let mut open = vec![0u32; count];
    for edge in &graph.edges {
        first[edge.from as usize + 1] += 1;
        open[edge.to as usize] += 1;
    }
    for node in 0..count {
        first[node + 1] += first[node];
    }
    let (mut next, mut out) = (first.clone(), vec![0usize; graph.edges.len()]);
    for (at, edge) in graph.edges.iter().enumerate() {
        out[next[edge.from as usize]] = at;
        next[edge.from as usize] += 1;
    }
    let mut ready: Vec<usize> = (0..count).rev().filter(|node| open[*node] == 0).collect();
    let mut length = vec![0i64; count];
    let mut came: Vec<Option<usize>> = vec![None; count];
    while let Some(node) = ready.pop() {
        for at in &out[first[node]..first[node + 1]] {
            let edge = &graph.edges[*at];
            let (to, reached) = (edge.to as usize, length[node] + edge.weight.max(0));
            if came[to].is_none() || reached > length[to] {
                (length[to], came[to]) = (reached, Some(*at));
            }
            open[to] -= 1;
            if open[to] == 0 {
                ready.push(to);
            }
        }
    }
    let mut on_path = vec![false; graph.edges.len()];
    let mut last = None;
    for node in 0..count {
        if last.is_none_or(|best: usize| length[node] > length[best]) {
            last = Some(node);
        }
    }
    while let Some(at) = last.and_then(|node| came[node]) {
        // A cycle is never entered twice.
        if std::mem::replace(&mut on_path[at], true) {
            break;
        }
        last = Some(graph.edges[at].from as usize);
    }
    on_path
}
