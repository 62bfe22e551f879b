//! Writes the drawing: title, legend, frames, and the script for zooming and searching.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Direction;
use super::amounts::{amount, change, measure_name, quantity, share};
use super::colours::{CHANGES, Change, Kind};
use super::labels::label;
use super::tree::{Node, Tree};
use crate::frames::Frames;
use crate::pprof::{FrameName, SampleType};

/// Width of the drawing in px. The script redraws the frames where the window is wider or narrower.
const WIDTH: f64 = 1200.0;
/// Free space at both sides, in px.
const MARGIN: f64 = 10.0;
/// Distance from one level to the next, and the height of a frame, in px.
const ROW: usize = 18;
const FRAME_HEIGHT: usize = 17;
/// A frame of a smaller share of the whole is not drawn; it would be thinner than 0.12 px.
const MIN_SHARE: f64 = 0.0001;
/// Maximum number of characters of a name in a tooltip.
const MAX_NAME_CHARS: usize = 2000;
/// The name of the root, and of a frame whose name is empty.
const ROOT: &str = "all";
const EMPTY: &str = "(empty)";

/// The style of all texts and frames.
pub const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("zoom.js");

/// A flame graph with everything that its drawing needs.
pub struct Drawing<'a> {
    pub tree: &'a Tree,
    pub names: &'a Frames,
    pub measure: &'a SampleType,
    pub title: &'a str,
    pub direction: Direction,
    pub compared: bool,
}

/// A text of the legend with its colour; a heading has none.
type Entry<'a> = (&'a str, Option<&'a str>);

impl Drawing<'_> {
    /// Returns the SVG document.
    pub fn svg(&self) -> String {
        let drawn = self.drawn();
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let mut body = String::new();
        let legend_end = self.legend(&drawn, &mut body);
        let top = legend_end + 26;
        let levels = drawn.iter().map(|node| node.depth + 1).max().unwrap_or(1);
        let height = top + levels * ROW + 10;
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n<style>\n{STYLE}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
        );
        self.heading(&mut out);
        out.push_str(&body);
        let buttons = legend_end + 15;
        let _ = writeln!(
            out,
            "<text id=\"details\" class=\"quiet\" x=\"{MARGIN}\" y=\"{buttons}\"> </text>\n\
             <text id=\"back\" class=\"button\" visibility=\"hidden\" text-anchor=\"end\" \
             x=\"1120\" y=\"26\">Reset zoom</text>\n<text id=\"find\" class=\"button\" \
             visibility=\"hidden\" text-anchor=\"end\" x=\"1190\" y=\"26\">Search</text>\n\
             <g id=\"frames\">"
        );
        for node in &drawn {
            self.frame(node, top, levels, &mut out);
        }
        let _ = writeln!(out, "</g>\n<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>");
        out
    }

    /// The frames that are wide enough, in drawing order.
    fn drawn(&self) -> Vec<&Node> {
        let min = self.whole() as f64 * MIN_SHARE;
        self.tree.nodes.iter().filter(|n| n.value > 0 && n.value as f64 >= min).collect()
    }

    fn whole(&self) -> i64 {
        self.tree.nodes[0].value
    }

    fn heading(&self, out: &mut String) {
        let root = &self.tree.nodes[0];
        let mut subtitle = format!(
            "{} by stack, {} in all",
            measure_name(self.measure),
            amount(root.value, self.measure)
        );
        if self.compared {
            let _ = write!(
                subtitle,
                "; {} in the base ({})",
                amount(root.base, self.measure),
                change(root.value, root.base)
            );
        }
        let title = escaped(self.title);
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"{MARGIN}\" y=\"26\">{title}</text>\n\
             <text class=\"quiet\" x=\"{MARGIN}\" y=\"46\">{}</text>",
            escaped(&subtitle)
        );
    }

    /// Writes the legend of all colours that are drawn. Returns where it ends, in px from the top.
    fn legend(&self, drawn: &[&Node], out: &mut String) -> usize {
        let quantity = quantity(self.measure);
        let explanation =
            format!("red = more {quantity} than in the base, blue = less; width = this run:");
        let mut entries: Vec<Entry> = Vec::new();
        if self.compared {
            entries.push((&explanation, None));
            entries.extend(CHANGES.iter().map(|change| (change.name, Some(change.colour))));
        } else {
            let kinds: BTreeMap<Kind, ()> = drawn
                .iter()
                .filter(|node| node.depth > 0)
                .map(|node| (Kind::of(node, self.names), ()))
                .collect();
            let (device, host): (Vec<Kind>, Vec<Kind>) =
                kinds.into_keys().partition(|kind| kind.is_device_work());
            entries.extend(host.iter().map(|kind| (kind.name, Some(kind.colour))));
            if !device.is_empty() {
                entries.push(("Work of devices:", None));
                entries.extend(device.iter().map(|kind| (kind.name, Some(kind.colour))));
            }
        }
        let (mut x, mut y) = (MARGIN, 66);
        let _ = writeln!(out, "<g id=\"legend\">");
        for (name, colour) in entries {
            let swatch = if colour.is_some() { 17.0 } else { 0.0 };
            let width = swatch + legend_width(name) + 14.0;
            if x + width > WIDTH - MARGIN && x > MARGIN {
                (x, y) = (MARGIN, y + 18);
            }
            if let Some(colour) = colour {
                let top = y - 10;
                let _ = write!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{top}\" width=\"12\" height=\"12\" rx=\"2\" \
                     fill=\"{colour}\"/>"
                );
            }
            let _ =
                writeln!(out, "<text x=\"{:.1}\" y=\"{y}\">{}</text>", x + swatch, escaped(name));
            x += width;
        }
        let _ = writeln!(out, "</g>");
        y
    }

    fn frame(&self, node: &Node, top: usize, levels: usize, out: &mut String) {
        let scale = (WIDTH - 2.0 * MARGIN) / self.whole() as f64;
        let (x, width) = (MARGIN + node.left as f64 * scale, node.value as f64 * scale);
        let level = match self.direction {
            Direction::Icicle => node.depth,
            Direction::Flame => levels - 1 - node.depth,
        };
        let y = top + level * ROW;
        let name = self.name(node);
        let colour = if self.compared && node.depth > 0 {
            Change::of(node).colour
        } else {
            Kind::of(node, self.names).colour
        };
        // A thin line of the background keeps wide neighbours apart.
        let drawn_width = if width > 4.0 { width - 0.5 } else { width };
        let _ = write!(
            out,
            "<g class=\"f\" data-level=\"{}\" data-left=\"{}\" data-value=\"{}\"><title>{}</title>\
             <rect x=\"{x:.2}\" y=\"{y}\" width=\"{drawn_width:.2}\" height=\"{FRAME_HEIGHT}\" \
             fill=\"{colour}\"/>",
            node.depth,
            node.left,
            node.value,
            escaped(&self.tooltip(node, &name)),
        );
        if let Some(text) = label(&name, width) {
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{}\">{}</text>",
                x + 3.0,
                y + 12,
                escaped(&text)
            );
        }
        out.push_str("</g>\n");
    }

    /// The name in one line.
    fn name(&self, node: &Node) -> String {
        let name = match self.names.shown(&node.frame) {
            _ if node.depth == 0 => return ROOT.to_owned(),
            name if name.trim().is_empty() => return EMPTY.to_owned(),
            // Mangled names of C++ are readable nowhere.
            name if name.starts_with("_Z") => FrameName::of(name).function,
            name => name.to_owned(),
        };
        cut(&name)
    }

    /// The name; the full name of a kernel; its value and its share of the whole; the base.
    fn tooltip(&self, node: &Node, name: &str) -> String {
        let mut text = name.to_owned();
        if self.names.shown(&node.frame) != node.frame {
            let _ = write!(text, "\n{}", cut(&node.frame));
        }
        let (value, part) = (amount(node.value, self.measure), share(node.value, self.whole()));
        let _ = write!(text, "\n{value}, {part} of all");
        if self.compared {
            let _ = write!(
                text,
                "\nbase {}: {}",
                amount(node.base, self.measure),
                change(node.value, node.base)
            );
        }
        text
    }
}

/// The approximate width of a text in the legend, in px.
fn legend_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | ' ' | '.' | ',' | ':' | ';' => 4.3,
        'm' | 'w' | 'M' | 'W' | '%' => 11.0,
        _ => 7.4,
    };
    text.chars().map(width).sum()
}

/// The text without control characters, and cut to [`MAX_NAME_CHARS`].
fn cut(text: &str) -> String {
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut cut: String = text.chars().take(MAX_NAME_CHARS).map(plain).collect();
    if text.chars().nth(MAX_NAME_CHARS).is_some() {
        cut.push('…');
    }
    cut
}

/// The text as XML. Characters that XML does not allow are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
