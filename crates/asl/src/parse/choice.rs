//! Reading the rules of a Choice.

use super::fields::Fields;
use super::state::assign;
use super::{Parser, Siblings};
use crate::Value;
use crate::choice::{Comparison, Is, Operand, Test};
use crate::definition::{Condition, Kind, Language, Rule};
use crate::scanner::DEEPEST;

pub(super) fn read(parser: &mut Parser, fields: &Fields<'_>, language: Language, siblings: &mut Siblings) -> Option<Kind> {
    let list = fields.required_list(parser, "Choices")?;
    if list.is_empty() {
        parser.invalid(fields.pointer("Choices"), "a Choice state has at least one rule");
    }
    let mut rules = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        rules.push(rule(parser, entry, &format!("{}/{at}", fields.pointer("Choices")), language, siblings));
    }
    let default = match fields.text(parser, "Default") {
        Some(name) => Some(parser.target(&name, fields.pointer("Default"), siblings)?),
        None => None,
    };
    let rules: Option<Vec<Rule>> = rules.into_iter().collect();
    Some(Kind::Choice { rules: rules?, default })
}

fn rule(parser: &mut Parser, value: &Value, at: &str, language: Language, siblings: &mut Siblings) -> Option<Rule> {
    let Some(object) = value.as_object() else {
        parser.invalid(at, "a rule is an object");
        return None;
    };
    let fields = Fields::new(object, at);
    let next = fields.required_text(parser, "Next");
    let next = next.and_then(|next| parser.target(&next, fields.pointer("Next"), siblings));
    let (condition, output) = match language {
        Language::JsonPath => (test(parser, &fields, 0).map(Condition::Test), None),
        Language::Jsonata => {
            fields.only(parser, &["Comment", "Condition", "Next", "Assign", "Output"]);
            (condition(parser, &fields), fields.template(parser, "Output", language))
        }
    };
    Some(Rule { condition: condition?, assign: assign(parser, &fields, language), output, next: next? })
}

fn condition(parser: &mut Parser, fields: &Fields<'_>) -> Option<Condition> {
    if let Some(Value::Bool(fixed)) = fields.get("Condition") {
        return Some(Condition::Fixed(*fixed));
    }
    match fields.expression(parser, "Condition") {
        Some(expression) => expression.map(Condition::Expression),
        None => {
            parser.invalid(fields.at(), "a rule needs `Condition`: an expression `{% … %}`, true or false");
            None
        }
    }
}

/// Reads a comparison or a combination; only the outermost one may have what a rule has besides.
fn test(parser: &mut Parser, fields: &Fields<'_>, depth: usize) -> Option<Test> {
    const OF_RULES: &[&str] = &["Next", "Assign", "Comment"];
    if depth > DEEPEST {
        parser.invalid(fields.at(), "the conditions nest too deeply");
        return None;
    }
    let mut found = None;
    for (name, value) in fields.object.iter() {
        let is_operator =
            matches!(&**name, "And" | "Or" | "Not") || Is::named(name).is_some() || comparison_named(name).is_some();
        if is_operator {
            if let Some((first, _)) = found {
                parser.invalid(fields.pointer(name), format!("`{name}` cannot stand beside `{first}`"));
                return None;
            }
            found = Some((name, value));
        } else if &**name != "Variable" && !OF_RULES.contains(&&**name) {
            parser.invalid(fields.pointer(name), format!("Field '{name}' is not supported"));
        } else if depth > 0 && matches!(&**name, "Next" | "Assign") {
            parser.invalid(fields.pointer(name), format!("`{name}` belongs to the rule, not to its parts"));
        }
    }
    let Some((name, value)) = found else {
        parser.invalid(fields.at(), "a condition needs a comparison");
        return None;
    };
    match &**name {
        "And" => tests(parser, fields, "And", depth).map(Test::And),
        "Or" => tests(parser, fields, "Or", depth).map(Test::Or),
        "Not" => {
            let inner = fields.object(parser, "Not")?;
            test(parser, &inner, depth + 1).map(|test| Test::Not(Box::new(test)))
        }
        _ => comparison(parser, fields, name, value),
    }
}

fn tests(parser: &mut Parser, fields: &Fields<'_>, field: &str, depth: usize) -> Option<Vec<Test>> {
    let list = fields.list(parser, field)?;
    if list.is_empty() {
        parser.invalid(fields.pointer(field), format!("`{field}` holds at least one condition"));
    }
    let mut tests = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        let pointer = format!("{}/{at}", fields.pointer(field));
        match entry.as_object() {
            Some(object) => tests.push(test(parser, &Fields::new(object, pointer), depth + 1)),
            None => parser.invalid(pointer, "a condition is an object"),
        }
    }
    tests.into_iter().collect()
}

fn comparison_named(name: &str) -> Option<Comparison> {
    Comparison::named(name.strip_suffix("Path").unwrap_or(name)).filter(|_| name != "StringMatchesPath")
}

fn comparison(parser: &mut Parser, fields: &Fields<'_>, name: &str, value: &Value) -> Option<Test> {
    if !fields.has("Variable") {
        parser.invalid(fields.at(), "the field `Variable` is missing");
    }
    let variable = fields.path(parser, "Variable")?;
    if let Some(kind) = Is::named(name) {
        let wanted = fields.truth(parser, name)?;
        return Some(Test::Is { variable, kind, wanted });
    }
    let comparison = comparison_named(name)?;
    let with = if name.ends_with("Path") {
        Operand::Path(fields.path(parser, name)?)
    } else if comparison.takes(value) {
        Operand::Literal(value.clone())
    } else {
        parser.invalid(fields.pointer(name), format!("`{name}` does not compare with a {} like this", value.type_name()));
        return None;
    };
    Some(Test::Compare { variable, comparison, with })
}
