//! The reference of tables, views, functions, settings and rules. Its texts are the comments in
//! `sql/` and the documentation records in `udfs/`. Topics are pages of `docs/` that concern
//! several entries.

mod areas;
mod json;
mod map;
mod markdown;
mod search;
mod tables;
mod text;
mod topics;

use std::collections::BTreeMap;

use tracesql_udfs::Function;

use crate::engine::{Engine, Setting, documented, functions};
use crate::error::{Error, Result};
use crate::library::View;
use crate::suggest;
pub use search::{Hit, hits_text};
pub use tables::tables_page;
pub use topics::{TOPICS, Topic, topic};

/// The documentation of everything in a session.
#[derive(Debug)]
pub struct Reference {
    /// Tables of the store and of the system.
    pub tables: Vec<View>,
    /// Views, by area and name. A view is a rule if [`View::rule_name`] returns a name.
    pub views: Vec<View>,
    /// Functions, by area and name.
    pub functions: Vec<Function>,
    /// Settings, by name.
    pub settings: BTreeMap<String, Setting>,
    /// Topics.
    pub topics: Vec<Topic>,
}

/// The output format of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For a terminal
    Text,
    /// One Markdown page
    Markdown,
    /// One JSON object
    Json,
}

impl Reference {
    /// The reference of everything in a session.
    pub fn of(engine: &Engine) -> Self {
        let (mut tables, mut views) = (Vec::new(), Vec::new());
        for (kind, view) in documented(engine.library()) {
            if kind == "table" { tables.push(view) } else { views.push(view) }
        }
        views.sort_by(|a, b| (&a.area, &a.name).cmp(&(&b.area, &b.name)));
        let mut functions = functions();
        functions.sort_by_key(|f| (f.doc.area, f.doc.name));
        Self {
            tables,
            views,
            functions,
            settings: engine.settings().all(),
            topics: TOPICS.to_vec(),
        }
    }

    /// Keeps only the entries with this name. If there are none, the error suggests the nearest
    /// name.
    pub fn named(mut self, name: &str) -> Result<Self> {
        let near = self.most_similar(name);
        self.tables.retain(|t| t.name == name);
        self.views.retain(|v| v.name == name || v.area == name);
        self.functions.retain(|f| f.doc.name == name || f.doc.area == name);
        self.settings.retain(|n, _| n == name);
        self.topics.retain(|t| t.name == name);
        if self.tables.is_empty()
            && self.views.is_empty()
            && self.functions.is_empty()
            && self.settings.is_empty()
            && self.topics.is_empty()
        {
            let hint = suggest::hint(near.as_deref());
            return Err(Error::Usage(format!(
                "there is no table, view, area, function, setting or topic {name}{hint}; \
                 `tracesql docs --search WORDS` searches all of them"
            )));
        }
        Ok(self)
    }

    fn most_similar(&self, name: &str) -> Option<String> {
        let all = (self.tables.iter().chain(&self.views).map(|v| v.name.as_str()))
            .chain(self.functions.iter().map(|f| f.doc.name))
            .chain(self.settings.keys().map(String::as_str))
            .chain(self.topics.iter().map(|t| t.name));
        suggest::nearest(name, all).first().map(|&name| name.to_owned())
    }

    /// All names with their summaries.
    pub fn list(&self) -> String {
        text::overview(self)
    }

    /// The reference as text. The whole reference for a terminal is a map of its entries.
    pub fn write(&self, style: Style, whole: bool) -> String {
        match style {
            Style::Text if whole => map::map(self),
            Style::Text => text::details(self),
            Style::Markdown if whole => markdown::page(self),
            Style::Markdown => markdown::part(self),
            Style::Json => json::object(self),
        }
    }
}

/// Groups entries by area. The areas keep the order of the list.
fn by_area<'a, T>(list: &'a [T], area: impl Fn(&'a T) -> &'a str) -> Vec<(&'a str, Vec<&'a T>)> {
    let mut groups: Vec<(&str, Vec<&T>)> = Vec::new();
    for item in list {
        match groups.last_mut() {
            Some((last, items)) if *last == area(item) => items.push(item),
            _ => groups.push((area(item), vec![item])),
        }
    }
    groups
}
