//! The text in a frame, shortened to the room that there is. `zoom.js` has the same rules.

/// Width of a character of the monospaced font in px.
const CHARACTER: f64 = 6.65;
/// Distance of the text from the ends of its frame, in px, both together.
const PADDING: f64 = 6.0;
/// The fewest characters of a name that is cut. A frame with less room has no text.
const MIN_CUT: usize = 8;

/// Returns the text for a frame that is so many px wide: the name; of a Python frame the file or
/// the function alone; or the beginning of the name. `None` if nothing useful fits.
pub fn label(name: &str, width: f64) -> Option<String> {
    let room = ((width - PADDING) / CHARACTER).floor().max(0.0) as usize;
    let fits = |text: &str| text.chars().count() <= room;
    if fits(name) {
        return Some(name.to_owned());
    }
    let mut kept = name;
    if let Some((place, function)) = name.split_once("): ")
        && place.contains(".py(")
    {
        let file =
            name.rfind('/').filter(|&at| at < place.len()).map_or(name, |at| &name[at + 1..]);
        if let Some(text) = [file, function].into_iter().find(|text| fits(text)) {
            return Some(text.to_owned());
        }
        kept = function;
    }
    (room >= MIN_CUT).then(|| kept.chars().take(room - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn a_text_fits_or_is_left_out() {
        let text = |name: &str, characters: usize| label(name, characters as f64 * 6.65 + 6.1);
        assert_eq!(text("aten::mm", 8).as_deref(), Some("aten::mm"));
        assert_eq!(text("aten::mm", 7), None);
        assert_eq!(text("aten::convolution", 9).as_deref(), Some("aten::co…"));
        assert_eq!(text("mm", 2).as_deref(), Some("mm"));
        assert_eq!(text("mm", 1), None);
        let python = "torch/nn/modules/module.py(1501): _call_impl";
        assert_eq!(text(python, 44).as_deref(), Some(python));
        assert_eq!(text(python, 30).as_deref(), Some("module.py(1501): _call_impl"));
        assert_eq!(text(python, 12).as_deref(), Some("_call_impl"));
        assert_eq!(text(python, 9).as_deref(), Some("_call_im…"));
        assert_eq!(text(python, 5), None);
        assert_eq!(label("x", 0.0), None);
    }
}
