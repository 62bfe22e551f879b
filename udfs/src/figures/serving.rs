//! Attention over a cache of keys and values, with lengths from the mark of the serving engine.

use super::call::Call;
use super::exact::{Counted, Reason, product, sum};
use super::formula::Formula;
use super::result::{Figures, Quality};

/// Sums over the requests of a step, of new prompts and of generation.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// New tokens.
    pub queries: i64,
    /// Tokens in the cache, the new ones included; `None` if not known.
    pub keys: Option<i64>,
    /// Squares of the numbers of new tokens of prompts.
    pub prompt_squares: i64,
    /// Products of new tokens and tokens in the cache; `None` if not known.
    pub pairs: Option<i64>,
}

/// The number after a name, such as `sqsk` or `c_sq=`. The name must not be part of a longer one.
fn after(text: &str, name: &str) -> Option<i64> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(name)?;
        let rest = &text[at + name.len()..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let begins = at == 0 || !text.as_bytes()[at - 1].is_ascii_alphabetic();
        if begins && digits > 0 {
            return rest[..digits].parse().ok();
        }
        from = at + name.len();
    }
}

/// The text in the brackets after a name.
fn brackets<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    let (_, rest) = rest.split_once('(')?;
    rest.split_once(')').map(|(inside, _)| inside)
}

/// Reads the mark of a step of vLLM, SGLang or ATOM.
pub fn lengths(mark: &str) -> Counted<Lengths> {
    if mark.starts_with("execute_") {
        return vllm(mark).unwrap_or(Err(Reason::Lengths));
    }
    let named = |prefix: &str, name: &str| after(mark, &format!("{prefix}{name}=")).unwrap_or(0);
    if mark.starts_with("step[") && (mark.contains("c_sqsk=") || mark.contains("g_sqsk=")) {
        return both(
            ["sq", "sk", "sqsq", "sqsk"].map(|name| named("c_", name)),
            ["sq", "sk", "sqsq", "sqsk"].map(|name| named("g_", name)),
        );
    }
    if (mark.starts_with("prefill[") || mark.starts_with("decode[")) && mark.contains("sqsk=") {
        let all = [named("", "tok"), named("", "sk"), named("", "sqsq"), named("", "sqsk")];
        let none = [0; 4];
        return if mark.starts_with("prefill[") { both(all, none) } else { both(none, all) };
    }
    if mark.starts_with("step[EXTEND") {
        let (count, tokens) = (named("", "bs"), named("", "toks"));
        return even(count, tokens);
    }
    Err(Reason::Lengths)
}

/// Sums of queries, keys, squares and pairs, of prompts and of generation.
fn both(prompts: [i64; 4], generation: [i64; 4]) -> Counted<Lengths> {
    Ok(Lengths {
        queries: sum(&[prompts[0], generation[0]])?,
        keys: Some(sum(&[prompts[1], generation[1]])?),
        prompt_squares: prompts[2],
        pairs: Some(sum(&[prompts[3], generation[3]])?),
    })
}

/// Returns the lengths of prompts if only their number and their sum are known. The sum of squares is
/// least if all are equal.
fn even(count: i64, tokens: i64) -> Counted<Lengths> {
    if count < 1 || tokens < count {
        return Err(Reason::Lengths);
    }
    let squares = product(&[tokens, tokens])? / count;
    Ok(Lengths { queries: tokens, keys: None, prompt_squares: squares, pairs: None })
}

/// `None` if the mark has another form.
fn vllm(mark: &str) -> Option<Counted<Lengths>> {
    let context = brackets(mark, "context_")?;
    let generation = brackets(mark, "generation_")?;
    if context.contains("sqsk") && generation.contains("sqsk") {
        let read = |text: &str| -> Option<[i64; 4]> {
            let mut sums = [0; 4];
            for (place, name) in sums.iter_mut().zip(["sq", "sk", "sqsq", "sqsk"]) {
                *place = after(text, name)?;
            }
            Some(sums)
        };
        return Some(both(read(context)?, read(generation)?));
    }
    // Without lengths of the caches nothing is known about generation.
    let requests = after(mark, "generation_")?;
    if requests > 0 {
        return Some(Err(Reason::Lengths));
    }
    if let Some((tokens, squares)) = context.split_once('_') {
        let (queries, prompt_squares) = (tokens.parse().ok()?, squares.parse().ok()?);
        return Some(Ok(Lengths { queries, keys: None, prompt_squares, pairs: None }));
    }
    Some(even(after(mark, "context_")?, context.parse().ok()?))
}

/// Queries `[tokens, heads, size]`, keys and values `[.., heads, size]`.
pub fn attention(call: &Call, formula: &Formula, mark: Option<&str>) -> Counted<Figures> {
    let lengths = lengths(mark.ok_or(Reason::Lengths)?)?;
    let first = formula.first();
    let (q, k, v) = (call.tensor(first)?, call.tensor(first + 1)?, call.tensor(first + 2)?);
    let last_two = |dims: &[i64]| match dims {
        [.., heads, size] => Ok((*heads, *size)),
        _ => Err(Reason::Shapes),
    };
    let ((heads, size), (key_heads, key_size)) = (last_two(q.dims)?, last_two(k.dims)?);
    let (value_heads, value_size) = last_two(v.dims)?;
    let fits = q.dims.len() == 3
        && size == key_size
        && key_heads == value_heads
        && key_heads > 0
        && heads % key_heads == 0;
    if !fits {
        return Err(Reason::Shapes);
    }
    if lengths.queries > q.dims[0] {
        return Err(Reason::Lengths);
    }
    let sizes = sum(&[size, value_size])?;
    let each = product(&[heads, sizes])?;
    // A query sees at least the new tokens up to its own.
    let pairs = lengths.pairs.unwrap_or(lengths.prompt_squares);
    let keys = lengths.keys.unwrap_or(lengths.queries);
    let full = product(&[2, each, pairs])?;
    let flop = full - product(&[each, lengths.prompt_squares])?;
    let query_bytes = product(&[lengths.queries, heads, size, q.width])?;
    let written = product(&[lengths.queries, heads, value_size, q.width])?;
    let cache = product(&[keys, key_heads, sizes, q.width])?;
    if flop < 0 {
        return Err(Reason::Lengths);
    }
    // The type of the cache is not recorded; it is taken to be that of the queries.
    let is_known = lengths.pairs.is_some();
    Ok(Figures {
        flop_full: Some(full),
        quality: if is_known { Quality::Estimate } else { Quality::LowerBound },
        ..Figures::exact(flop, sum(&[query_bytes, cache])?, written)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_serving_engines_are_read() {
        let known = |queries, keys, prompt_squares, pairs| {
            Ok(Lengths { queries, keys: Some(keys), prompt_squares, pairs: Some(pairs) })
        };
        let least = |queries, prompt_squares| {
            Ok(Lengths { queries, keys: None, prompt_squares, pairs: None })
        };
        for (mark, found) in [
            (
                "execute_9_context_2(sq7sk30sqsq25sqsk120)_generation_2(sq2sk50sqsq2sqsk50)",
                known(9, 80, 25, 170),
            ),
            ("execute_context_1(888_788544)_generation_0(0)", least(888, 788_544)),
            ("execute_context_2(10)_generation_0(0)", least(10, 50)),
            ("execute_context_2(10)_generation_3(3)", Err(Reason::Lengths)),
            (
                "step[EXTEND bs=2 toks=10 c_sq=10 c_sk=12 c_sqsq=50 c_sqsk=60]",
                known(10, 12, 50, 60),
            ),
            ("step[DECODE bs=2 toks=2 g_sq=2 g_sk=90 g_sqsq=2 g_sqsk=90]", known(2, 90, 0, 90)),
            ("step[EXTEND bs=15 toks=15360]", least(15360, 15_728_640)),
            ("step[DECODE bs=2 toks=2]", Err(Reason::Lengths)),
            ("prefill[bs=1 tok=8 ctx=[8] sqsq=64 sqsk=64 sk=8]", known(8, 8, 64, 64)),
            ("decode[bs=2 tok=2 ctx=[5, 7] sqsq=2 sqsk=12 sk=12]", known(2, 12, 0, 12)),
            ("execute_diffusion_1_256x256", Err(Reason::Lengths)),
            ("execute_context_1(x)_generation_0(0)", Err(Reason::Lengths)),
            ("", Err(Reason::Lengths)),
        ] {
            assert_eq!(lengths(mark), found, "{mark}");
        }
    }
}
