//! Matches a path against a pattern of an artifact rule.

/// Whether `path` matches `pattern`: `?` is one character and `*` any number of them, neither a `/`; `**` as a whole part is any number of
/// parts. Every other character stands for itself.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.strip_prefix("./").unwrap_or(pattern).split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    parts_match(&pattern, &path)
}

fn parts_match(pattern: &[&str], path: &[&str]) -> bool {
    walk(pattern.len(), path.len(), |place| pattern[place] == "**", |place, part| part_matches(pattern[place], path[part]))
}

fn part_matches(pattern: &str, part: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let part: Vec<char> = part.chars().collect();
    walk(
        pattern.len(),
        part.len(),
        |place| pattern[place] == '*',
        |place, at| pattern[place] == '?' || pattern[place] == part[at],
    )
}

/// Matches a sequence in which some places stand for any number of items. Going back only to the last such place keeps it quadratic.
fn walk(pattern: usize, text: usize, is_any: impl Fn(usize) -> bool, fits: impl Fn(usize, usize) -> bool) -> bool {
    let (mut place, mut at) = (0, 0);
    let mut last_any: Option<(usize, usize)> = None;
    while at < text {
        if place < pattern && is_any(place) {
            last_any = Some((place, at));
            place += 1;
        } else if place < pattern && fits(place, at) {
            place += 1;
            at += 1;
        } else if let Some((any, from)) = last_any {
            last_any = Some((any, from + 1));
            place = any + 1;
            at = from + 1;
        } else {
            return false;
        }
    }
    (place..pattern).all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_paths() {
        let table = [
            ("prices.csv", "prices.csv", true),
            ("prices.csv", "by/prices.csv", false),
            ("*.csv", "prices.csv", true),
            ("*.csv", "by/prices.csv", false),
            ("*.csv", ".csv", true),
            ("./*.csv", "prices.csv", true),
            ("p?ices.csv", "prices.csv", true),
            ("p?ices.csv", "pices.csv", false),
            ("?", "é", true),
            ("**/*.csv", "prices.csv", true),
            ("**/*.csv", "a/b/c/prices.csv", true),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("a/**/z", "b/a/z", false),
            ("a/**", "a/b/c", true),
            ("a/**", "b", false),
            ("**", "anything/at/all", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("[ab].csv", "a.csv", false),
            ("[ab].csv", "[ab].csv", true),
            ("", "", true),
            ("", "a", false),
        ];
        for (pattern, path, wanted) in table {
            assert_eq!(matches(pattern, path), wanted, "{pattern:?} on {path:?}");
        }
    }

    #[test]
    fn a_hostile_pattern_ends() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(2_000).replace("aa", "ab")));
        assert!(!matches(&format!("{}b", "**/a/".repeat(60)), &"a/".repeat(500)));
    }
}
