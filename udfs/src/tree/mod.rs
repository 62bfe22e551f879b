//! Trees given by ids: each row has an id and contains the id of its parent. Window functions copy
//! or sum values along these links or down the rows, and `align_trees` pairs two trees.
//!
//! These functions replace joins of a relation with itself, which would compute the relation twice.

mod align_trees;
mod docs;
mod last_known;
mod links;
mod outermost_id;
mod pairing;
mod running_sum;
mod window;

use crate::doc::Function;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    let [parent_value, children_sum, subtree_sum] = window::functions();
    vec![
        parent_value,
        children_sum,
        subtree_sum,
        last_known::function(),
        outermost_id::function(),
        running_sum::function(),
        align_trees::function(),
    ]
}
