//! Stacks as a tree of frames in drawing order: a frame comes before its children, and siblings are
//! in the order of their names.

use crate::measure::Stack;

/// A frame with everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The frame as it is in the stack; empty for the root.
    pub frame: String,
    /// Number of frames above it; 0 for the root.
    pub depth: usize,
    /// Sum of the values of all drawn frames to the left.
    pub left: i64,
    /// Value of the frame and of all frames below it.
    pub value: i64,
    /// The same in the base of a comparison.
    pub base: i64,
    /// Whether no frame is below it.
    pub is_leaf: bool,
}

impl Node {
    fn new(frame: String, depth: usize) -> Self {
        Self { frame, depth, left: 0, value: 0, base: 0, is_leaf: true }
    }
}

/// All frames; the first one is the root.
#[derive(Debug)]
pub struct Tree {
    pub nodes: Vec<Node>,
}

impl Tree {
    /// Builds the tree of stacks that are sorted by their frames. Negative values count as 0, so
    /// that no frame is wider than its parent.
    pub fn of(stacks: &[Stack]) -> Self {
        let mut nodes = vec![Node::new(String::new(), 0)];
        let mut path = vec![0];
        for stack in stacks.iter().filter(|s| s.value > 0 || s.base > 0) {
            let frames: &[String] = &stack.frames;
            let shared = path[1..]
                .iter()
                .zip(frames)
                .take_while(|&(&at, frame): &(&usize, &String)| nodes[at].frame == *frame)
                .count();
            path.truncate(shared + 1);
            for frame in &frames[shared..] {
                if let Some(parent) = path.last().and_then(|&at| nodes.get_mut(at)) {
                    parent.is_leaf = false;
                }
                nodes.push(Node::new(frame.clone(), path.len()));
                path.push(nodes.len() - 1);
            }
            for &at in &path {
                nodes[at].value = nodes[at].value.saturating_add(stack.value.max(0));
                nodes[at].base = nodes[at].base.saturating_add(stack.base.max(0));
            }
        }
        let mut tree = Self { nodes };
        tree.place();
        tree
    }

    /// Puts the children of each frame next to each other, from the left end of the frame.
    fn place(&mut self) {
        // For each level, where the next frame begins.
        let mut next: Vec<i64> = vec![0];
        for node in &mut self.nodes {
            next.truncate(node.depth + 1);
            let left = next[node.depth];
            node.left = left;
            next[node.depth] = left + node.value;
            next.push(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_lie_within_their_parents() {
        let stack = |frames: &[&str], base, value| Stack {
            frames: frames.iter().map(|f| (*f).to_owned()).collect(),
            base,
            value,
        };
        let tree = Tree::of(&[
            stack(&["a"], 5, 10),
            stack(&["a", "b"], 0, 20),
            stack(&["a", "b", "c"], 7, 0),
            stack(&["a", "d"], 1, 5),
            stack(&["e"], 0, 1),
        ]);
        let rows: Vec<_> = tree
            .nodes
            .iter()
            .map(|n| (n.frame.as_str(), n.depth, n.left, n.value, n.base))
            .collect();
        let expected = [
            ("", 0, 0, 36, 13),
            ("a", 1, 0, 35, 13),
            ("b", 2, 0, 20, 7),
            ("c", 3, 0, 0, 7),
            ("d", 2, 20, 5, 1),
            ("e", 1, 35, 1, 0),
        ];
        assert_eq!(rows, expected);
    }
}
