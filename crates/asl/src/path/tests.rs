use proptest::prelude::*;

use super::*;
use crate::Map;

/// Surroundings with one variable and a small context object.
struct Around;

impl Surroundings for Around {
    fn context_member(&self, name: &str) -> Option<Value> {
        (name == "State").then(|| Map::from_iter([("Name", "S")]).into())
    }

    fn context(&self) -> Value {
        Map::from_iter([("State", Map::from_iter([("Name", "S")]))]).into()
    }

    fn variable(&self, name: &str) -> Option<Value> {
        (name == "list").then(|| Value::from(vec![Value::from(1_i64), Value::from(2_i64)]))
    }
}

const STORE: &str = r#"{
    "books": [
        {"title": "A", "price": 8.95, "isbn": "1"},
        {"title": "B", "price": 12.99},
        {"title": "C", "price": 8.99, "isbn": "2", "tags": ["x", "y"]}],
    "bike": {"color": "red", "price": 19.95},
    "delivery-partner": "UQS", "0": "zero", "it's": 1, "empty": []
}"#;

fn find(path: &str) -> String {
    let data = Value::parse(STORE).unwrap();
    let path = Path::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    match path.find(&data, &Around) {
        Ok(value) => value.to_string(),
        Err(missing) => path.explain(&missing),
    }
}

#[test]
fn a_definite_path_gives_the_value_itself() {
    for (path, found) in [
        ("$.bike.color", r#""red""#),
        ("$['bike']['color']", r#""red""#),
        ("$.delivery-partner", r#""UQS""#),
        ("$.0", r#""zero""#),
        (r"$['it\'s']", "1"),
        ("$.books[1].title", r#""B""#),
        ("$.books[-1].title", r#""C""#),
        ("$['bike','none'].bike.color", r#""red""#),
        ("$.books.length()", "3"),
        ("$$.State.Name", r#""S""#),
        ("$$", r#"{"State":{"Name":"S"}}"#),
        ("$list[1]", "2"),
        ("$list", "[1,2]"),
    ] {
        assert_eq!(find(path), found, "{path}");
    }
}

#[test]
fn an_indefinite_path_gives_a_list_even_of_one_or_none() {
    for (path, found) in [
        ("$.books[*].title", r#"["A","B","C"]"#),
        ("$..price", "[8.95,12.99,8.99,19.95]"),
        ("$.books[0:2].title", r#"["A","B"]"#),
        ("$.books[-1:].title", r#"["C"]"#),
        ("$.books[:1].title", r#"["A"]"#),
        ("$.books[0,2].title", r#"["A","C"]"#),
        ("$.books[?(@.isbn)].title", r#"["A","C"]"#),
        ("$.books[?(!@.isbn)].title", r#"["B"]"#),
        ("$.books[?(@.price < 10 && @.title != 'A')].title", r#"["C"]"#),
        ("$.books[?(@.title == 'A' || @.title == \"B\")].title", r#"["A","B"]"#),
        ("$.books[?(@.title =~ /[bc]/i)].title", r#"["B","C"]"#),
        ("$.books[?(@.title in ['A', 'Z'])].title", r#"["A"]"#),
        ("$.books[?(@.price > $.bike.price)]", "[]"),
        ("$.books[?(@.tags[0] == 'x')].isbn", r#"["2"]"#),
        ("$.missing[*].title", "[]"),
        ("$.missing[1:]", "[]"),
        ("$.books[*].price.length()", "3"),
        ("$.books..price.max()", "12.99"),
    ] {
        assert_eq!(find(path), found, "{path}");
    }
}

#[test]
fn a_place_that_is_not_there_is_explained_as_the_service_does() {
    for (path, words) in [
        ("$.nothing", "No results for path: $['nothing']"),
        ("$.bike.nothing", "No results for path: $['bike']['nothing']"),
        ("$.no.such.path", "Missing property in path $['no']"),
        ("$.books[7]", "Index out of bounds when evaluating path $['books'][7]"),
        ("$none", "The variable has no value"),
    ] {
        assert_eq!(find(path), words, "{path}");
    }
    assert!(
        find("$.bike.color.more").starts_with("Expected to find an object with property ['more'] in path $['bike']['color']")
    );
}

#[test]
fn what_is_no_path_is_refused() {
    for bad in [
        "",
        "a",
        "$.",
        "$.a.",
        "$[",
        "$['a",
        "$.a b",
        "$.a[?(@.b ==)]",
        "$.a()",
        "$.a.length().b",
        "$[1:",
        "$.a[?(]",
        "$..",
        "$.a[x]",
    ] {
        assert!(Path::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_reference_path_writes_where_it_points() {
    let put = |path: &str, data: &str| {
        let put = ReferencePath::parse(path).unwrap().put(Value::parse(data).unwrap(), Value::from("new"));
        put.map_or_else(|_| "unreachable".to_owned(), |value| value.to_string())
    };
    assert_eq!(put("$.a.b", r#"{"a":{"c":1}}"#), r#"{"a":{"c":1,"b":"new"}}"#);
    assert_eq!(put("$.a[1]", r#"{"a":[1,2]}"#), r#"{"a":[1,"new"]}"#);
    assert_eq!(put("$.a[2]", r#"{"a":[1,2]}"#), "unreachable");
    assert_eq!(put("$.a.b", r#"{"a":7}"#), "unreachable");
    for bad in ["$.a[*]", "$..a", "$$.a", "$a", "$.a[0:1]"] {
        assert!(ReferencePath::parse(bad).is_err(), "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_the_reader_panic_or_the_walk_hang(text in r#"\$[$@.\[\]()?*:,'"a-c0-9!=<>&|~/ -]{0,40}"#) {
        if let Ok(path) = Path::parse(&text) {
            let data = Value::parse(STORE).unwrap();
            if let Err(missing) = path.find(&data, &Around) {
                prop_assert!(!path.explain(&missing).is_empty());
            }
        }
    }

    #[test]
    fn a_path_of_quoted_names_finds_what_was_put_there(names in prop::collection::vec("[^'\\\\]{1,8}", 1..5)) {
        let text: String = names.iter().map(|name| format!("['{name}']")).collect();
        let path = format!("${text}");
        let put = ReferencePath::parse(&path).unwrap().put(Value::empty_object(), Value::from(1_i64)).unwrap();
        prop_assert_eq!(Path::parse(&path).unwrap().find(&put, &Around), Ok(Value::from(1_i64)));
    }
}
