//! The b-trees of tables: all rows in the order of rowid, or one row by its rowid.

use super::pages::{HEADER, Layout, Pages, u16_at, u32_at, varint};
use crate::error::Result;

/// Type of a page: inner page of a table.
const INNER: u8 = 5;
/// Type of a page: leaf page of a table.
const LEAF: u8 = 13;
/// Maximum depth of a tree. Trees of the largest databases have a depth of about 10.
const MAX_DEPTH: usize = 32;

/// A page of a table's tree.
#[derive(Clone, Copy)]
struct Node {
    is_leaf: bool,
    cells: usize,
    /// Position of the list of cell positions in the page.
    list: usize,
    /// The last child of an inner page.
    right: u32,
}

/// The reason why a page cannot be used.
type Fault = &'static str;

const NO_FIT: Fault = "a row does not fit it";

impl Node {
    fn of(no: u32, page: &[u8]) -> Result<Self, Fault> {
        let at = if no == 1 { HEADER } else { 0 };
        let is_leaf = match page.get(at) {
            Some(&LEAF) => true,
            Some(&INNER) => false,
            Some(10 | 2) => return Err("a table without rowid, which is not supported"),
            _ => return Err("it is no page of a table"),
        };
        let list = at + if is_leaf { 8 } else { 12 };
        let cells = u16_at(page, at + 3);
        if list + 2 * cells > page.len() {
            return Err("it has more cells than fit");
        }
        let right = if is_leaf { 0 } else { u32_at(page, at + 8) };
        Ok(Self { is_leaf, cells, list, right })
    }

    #[inline]
    fn cell<'p>(&self, page: &'p [u8], i: usize) -> &'p [u8] {
        page.get(u16_at(page, self.list + 2 * i)..).unwrap_or(&[])
    }

    /// Returns the child with this number.
    fn child(&self, page: &[u8], i: usize) -> u32 {
        if i < self.cells { u32_at(self.cell(page, i), 0) } else { self.right }
    }

    /// Returns the rowid of a cell.
    fn rowid(&self, page: &[u8], i: usize) -> Option<i64> {
        let cell = self.cell(page, i);
        let at = if self.is_leaf { varint(cell)?.1 } else { 4 };
        varint(cell.get(at..)?).map(|(rowid, _)| rowid as i64)
    }
}

/// A payload: its part in the page and the first overflow page.
struct Local<'p> {
    rowid: i64,
    part: &'p [u8],
    len: usize,
    overflow: u32,
}

/// Returns the parts of a leaf cell; `None` if the cell does not fit its page.
#[inline]
fn local(layout: Layout, cell: &[u8]) -> Option<Local<'_>> {
    let (len, n) = varint(cell)?;
    let (rowid, m) = varint(&cell[n..])?;
    let (rowid, rest) = (rowid as i64, &cell[n + m..]);
    let len = usize::try_from(len).ok()?;
    let most = layout.usable - 35;
    if len <= most {
        return Some(Local { rowid, part: rest.get(..len)?, len, overflow: 0 });
    }
    if len as u64 > layout.bytes {
        return None;
    }
    let least = (layout.usable - 12) * 32 / 255 - 23;
    let kept = least + (len - least) % (layout.usable - 4);
    let kept = if kept <= most { kept } else { least };
    let overflow = u32_at(rest.get(kept..kept + 4)?, 0);
    Some(Local { rowid, part: &rest[..kept], len, overflow })
}

/// Appends the rest of a payload from its overflow pages.
fn overflow(pages: &mut Pages<'_>, mut no: u32, len: usize, out: &mut Vec<u8>) -> Result<()> {
    while out.len() < len {
        pages.take(no)?;
        let page = pages.page(no)?;
        let next = u32_at(page, 0);
        out.extend_from_slice(&page[4..page.len().min(4 + len - out.len())]);
        no = next;
    }
    Ok(())
}

/// Passes the rowid and the payload of each row to `each`, in the order of the tree.
pub fn scan(
    pages: &mut Pages<'_>,
    root: u32,
    mut each: impl FnMut(i64, &[u8]) -> Result<()>,
) -> Result<()> {
    pages.start_scan();
    let layout = pages.layout();
    // Copies of pages, because overflow pages are read in between.
    let mut stack: Vec<(Vec<u8>, Node, usize)> = Vec::new();
    let (mut leaf, mut whole) = (Vec::new(), Vec::new());
    let mut next = Some(root);
    loop {
        if let Some(no) = next.take() {
            pages.take(no)?;
            leaf.clear();
            leaf.extend_from_slice(pages.page(no)?);
            let node = Node::of(no, &leaf).map_err(|e| pages.damaged(no, e))?;
            if !node.is_leaf {
                if stack.len() == MAX_DEPTH {
                    return Err(pages.damaged(no, "its tree is too deep"));
                }
                stack.push((leaf.clone(), node, 0));
            } else {
                for i in 0..node.cells {
                    let Some(cell) = local(layout, node.cell(&leaf, i)) else {
                        return Err(pages.damaged(no, NO_FIT));
                    };
                    if cell.part.len() == cell.len {
                        each(cell.rowid, cell.part)?;
                        continue;
                    }
                    whole.clear();
                    whole.extend_from_slice(cell.part);
                    overflow(pages, cell.overflow, cell.len, &mut whole)?;
                    each(cell.rowid, &whole)?;
                }
            }
        }
        let Some((page, node, at)) = stack.last_mut() else { return Ok(()) };
        if *at > node.cells {
            stack.pop();
            continue;
        }
        next = Some(node.child(page, *at));
        *at += 1;
    }
}

/// One step of a search.
enum Step {
    /// Go on in this page.
    Down(u32),
    /// The row was found. Its payload has this length and goes on in this page.
    Found(usize, u32),
    /// There is no such row.
    Missing,
}

/// Searches a page for a row; appends the part of its payload that the page holds to `out`.
fn step(
    layout: Layout,
    no: u32,
    page: &[u8],
    rowid: i64,
    out: &mut Vec<u8>,
) -> Result<Step, Fault> {
    let node = Node::of(no, page)?;
    let (mut low, mut high) = (0, node.cells);
    while low < high {
        let middle = (low + high) / 2;
        if node.rowid(page, middle).ok_or(NO_FIT)? < rowid {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if !node.is_leaf {
        return Ok(Step::Down(node.child(page, low)));
    }
    if low == node.cells || node.rowid(page, low) != Some(rowid) {
        return Ok(Step::Missing);
    }
    let cell = local(layout, node.cell(page, low)).ok_or(NO_FIT)?;
    out.extend_from_slice(cell.part);
    Ok(Step::Found(cell.len, cell.overflow))
}

/// Finds the payload of a row by its rowid, and appends it to the empty `out`. Returns whether
/// there is such a row.
pub fn find(pages: &mut Pages<'_>, root: u32, rowid: i64, out: &mut Vec<u8>) -> Result<bool> {
    let layout = pages.layout();
    let mut no = root;
    for _ in 0..MAX_DEPTH {
        let found = step(layout, no, pages.page(no)?, rowid, out);
        match found.map_err(|e| pages.damaged(no, e))? {
            Step::Down(child) => no = child,
            Step::Missing => return Ok(false),
            Step::Found(len, next) => {
                if out.len() < len {
                    pages.start_scan();
                    overflow(pages, next, len, out)?;
                }
                return Ok(true);
            }
        }
    }
    Err(pages.damaged(no, "its tree is too deep"))
}
