//! Comparing with a recording, in which changing values were replaced by words.

use serde_json::Value as Json;

/// Whether a value is what was recorded.
pub(crate) fn agrees(recorded: &Json, got: &Json, words: &[String]) -> bool {
    match (recorded, got) {
        (Json::String(text), _) if words.contains(text) => true,
        (Json::String(text), Json::String(got)) => text_agrees(text, got, words),
        (Json::Number(one), Json::Number(two)) => one.as_f64() == two.as_f64(),
        (Json::Array(one), Json::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| agrees(one, two, words))
        }
        (Json::Object(one), Json::Object(two)) => {
            // Some were recorded before the service told how often an execution was redriven.
            let newer = usize::from(two.contains_key("RedriveCount") && !one.contains_key("RedriveCount"));
            one.len() + newer == two.len()
                && one.iter().all(|(name, value)| two.get(name).is_some_and(|got| agrees(value, got, words)))
        }
        (Json::Object(_), Json::String(text)) => {
            serde_json::from_str(text).is_ok_and(|got| agrees(recorded, &opened(got), words))
        }
        (one, two) => one == two,
    }
}

/// A text in which words stand for any text.
fn text_agrees(recorded: &str, got: &str, words: &[String]) -> bool {
    let mut words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut parts: Vec<String> = vec![String::new()];
    let mut rest = recorded;
    while let Some(next) = rest.chars().next() {
        if let Some(word) = words.iter().find(|word| rest.starts_with(**word)) {
            parts.push(String::new());
            rest = &rest[word.len()..];
        } else {
            parts.last_mut().unwrap().push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    let (first, last) = (parts.first().unwrap().as_str(), parts.last().unwrap().as_str());
    if parts.len() == 1 {
        return got == first;
    }
    let Some(mut rest) = got.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else { return false };
    for part in &parts[1..parts.len() - 1] {
        let Some(at) = rest.find(part.as_str()) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// A value as the recorder would have written it: members of objects that hold JSON objects as text are opened.
pub(crate) fn opened(value: Json) -> Json {
    match value {
        Json::Array(list) => Json::Array(list.into_iter().map(opened).collect()),
        Json::Object(object) => Json::Object(
            object
                .into_iter()
                .map(|(name, value)| match &value {
                    Json::String(text) if text.starts_with('{') => match serde_json::from_str::<Json>(text) {
                        Ok(inner) => (name, opened(inner)),
                        Err(_) => (name, value),
                    },
                    _ => (name, opened(value)),
                })
                .collect(),
        ),
        other => other,
    }
}
