//! The prompts: how to answer three questions, from the files of the skill.

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::wire::{Fault, code};

/// A prompt. Its text is a file of `skills/tracesql/`.
struct Prompt {
    name: &'static str,
    about: &'static str,
    /// Name, meaning, and whether it must be given.
    arguments: &'static [(&'static str, &'static str, bool)],
    text: &'static str,
}

const PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "why_is_it_slow",
        about: "Find where the time of a run goes, and what to do about it",
        arguments: &[("trace", "The trace; all of them if not given", false)],
        text: include_str!("../../skills/tracesql/slow-step.md"),
    },
    Prompt {
        name: "compare_runs",
        about: "Say which of two runs is faster, where, and whether it is more than noise",
        arguments: &[
            ("base", "The trace to compare with", true),
            ("candidate", "The trace that is compared", true),
        ],
        text: include_str!("../../skills/tracesql/compare.md"),
    },
    Prompt {
        name: "what_is_missing",
        about: "Say what the trace does not contain, and how to record it",
        arguments: &[],
        text: include_str!("../../skills/tracesql/what-is-missing.md"),
    },
];

/// The answer to `prompts/list`.
pub fn list() -> Value {
    let prompts = PROMPTS.iter().map(|prompt| {
        let arguments: Vec<Value> = prompt
            .arguments
            .iter()
            .map(|(name, about, required)| {
                json!({"name": name, "description": about, "required": required})
            })
            .collect();
        json!({"name": prompt.name, "description": prompt.about, "arguments": arguments})
    });
    json!({"prompts": prompts.collect::<Vec<_>>()})
}

/// The answer to `prompts/get`.
pub fn get(params: &Map<String, Value>) -> Result<Value, Fault> {
    let fault = |what: String| Fault::new(code::INVALID_PARAMS, what);
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let prompt = PROMPTS
        .iter()
        .find(|prompt| prompt.name == name)
        .ok_or_else(|| fault(format!("there is no prompt {name:?}")))?;
    let given = params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    let known: Vec<&str> = prompt.arguments.iter().map(|(name, ..)| *name).collect();
    let given = Arguments::new(given, &known).map_err(|e| fault(e.to_string()))?;
    let mut text = format!("Use the tools of tracesql. {}.\n", prompt.about);
    for (name, _, is_needed) in prompt.arguments {
        let value = match is_needed {
            true => given.needed(name).map(Some),
            false => given.text(name),
        };
        if let Some(value) = value.map_err(|e| fault(e.to_string()))? {
            // A JSON text, so that nothing in a name looks like a sentence of this prompt.
            text.push_str(&format!("{name}: {}\n", json!(value)));
        }
    }
    text.push('\n');
    text.push_str(prompt.text);
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    Ok(json!({"description": prompt.about, "messages": [message]}))
}
