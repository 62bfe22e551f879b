//! The order of all suffixes of a text by their first symbols, and the length of what neighbours in
//! that order have in common.

/// Suffixes of a text in the order of their first `depth` symbols.
pub struct Suffixes {
    /// Start of each suffix, in order.
    pub starts: Vec<u32>,
    /// Number of symbols, at most the depth, that the suffix at each place has in common with the
    /// one before it; 0 at the first place.
    pub common: Vec<u32>,
}

impl Suffixes {
    /// Sorts the suffixes by doubling the compared length, which takes O(n log n · log depth).
    pub fn new(text: &[u32], depth: usize) -> Self {
        let n = text.len();
        // The rank of the first `length` symbols of each suffix.
        let mut ranks: Vec<u32> = text.to_vec();
        let mut starts: Vec<u32> = (0..n as u32).collect();
        let mut keys: Vec<(u32, u32, u32)> = Vec::with_capacity(n);
        let mut length = 1;
        starts.sort_unstable_by_key(|&start| (text[start as usize], start));
        while length < depth && length < n {
            keys.clear();
            // 0 stands for the end of the text, which comes before every symbol.
            keys.extend((0..n).map(|start| {
                let second = ranks.get(start + length).map_or(0, |rank| rank + 1);
                (ranks[start], second, start as u32)
            }));
            keys.sort_unstable();
            let mut rank = 0;
            for (place, &(first, second, start)) in keys.iter().enumerate() {
                if place > 0 && (keys[place - 1].0, keys[place - 1].1) != (first, second) {
                    rank = place as u32;
                }
                ranks[start as usize] = rank;
                starts[place] = start;
            }
            length *= 2;
        }
        let common = (0..n)
            .map(|place| match place.checked_sub(1) {
                Some(before) => {
                    let (a, b) = (starts[before] as usize, starts[place] as usize);
                    let pairs = text[a..].iter().zip(&text[b..]).take(depth);
                    pairs.take_while(|(a, b)| a == b).count() as u32
                }
                None => 0,
            })
            .collect();
        Self { starts, common }
    }
}
