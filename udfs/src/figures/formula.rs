//! A formula of `operator_formulas`: the form and its options.

/// A form with its options, written as `name=value` and separated by blanks.
pub struct Formula<'a> {
    pub form: &'a str,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Formula<'a> {
    /// Reads the options.
    pub fn new(form: &'a str, options: &'a str) -> Self {
        let options = options
            .split_ascii_whitespace()
            .map(|option| option.split_once('=').unwrap_or((option, "")))
            .collect();
        Self { form, options }
    }

    /// The text of an option.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether an option is given.
    pub fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// A position of an argument, or another count.
    pub fn at(&self, name: &str) -> Option<usize> {
        self.text(name)?.parse().ok()
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// Positions of arguments, separated by commas.
    pub fn list(&self, name: &str) -> Vec<usize> {
        let items = self.text(name).unwrap_or_default().split(',');
        items.filter_map(|item| item.parse().ok()).collect()
    }

    /// Pairs of positions, separated by commas: `4:0,5:1`. One number is a pair with itself.
    pub fn pairs(&self, name: &str) -> Vec<(usize, usize)> {
        let items = self.text(name).unwrap_or_default().split(',');
        let pair = |item: &str| {
            let (a, b) = item.split_once(':').unwrap_or((item, item));
            Some((a.parse().ok()?, b.parse().ok()?))
        };
        items.filter_map(pair).collect()
    }

    /// Position of the first argument of the form.
    pub fn first(&self) -> usize {
        self.at("first").unwrap_or(0)
    }

    /// Number of leading arguments that are read.
    pub fn reads(&self) -> usize {
        self.at("reads").unwrap_or(0)
    }

    /// Operations an element.
    pub fn flop_per_element(&self) -> i64 {
        self.number("flop_per_element").unwrap_or(0)
    }
}
