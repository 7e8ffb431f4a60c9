//! What only all files together can tell: names declared twice or not at all, and needs in a circle.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{DefinitionKind, Problem, Tier};

use crate::{
    Code,
    node::{Mark, short},
    report::{closest, problem},
};

/// Names that are compared with all others for a suggestion: comparing every wrong name with every known one would be quadratic.
const MOST_SUGGESTIONS: usize = 50;
/// Circles of needs that are told: tangled needs hold more circles than there are units.
const MOST_CIRCLES: usize = 20;

/// A name that a document uses and another must declare.
#[derive(Debug)]
pub(crate) struct Reference {
    kind: DefinitionKind,
    name: String,
    mark: Mark,
}

impl Reference {
    pub(crate) fn new(kind: DefinitionKind, name: &str, mark: Mark) -> Reference {
        Reference { kind, name: name.to_owned(), mark }
    }
}

/// A document of a known kind, whether or not what it holds is right.
#[derive(Debug)]
pub(crate) struct Declaration<'f> {
    pub(crate) kind: DefinitionKind,
    /// None where there is no telling; perhaps not a legal name, which is reported then.
    pub(crate) name: Option<String>,
    pub(crate) file: &'f str,
    /// Where the name stands, or the document.
    pub(crate) mark: Mark,
    pub(crate) references: Vec<Reference>,
}

impl Declaration<'_> {
    fn title(&self) -> String {
        short(self.name.as_deref().unwrap_or_default())
    }
}

/// Checks declarations, in order of file and place, against each other. A name among `doubtful` may be declared where
/// reading failed: it is not called unknown.
pub(crate) fn link(declarations: &[Declaration<'_>], doubtful: &HashSet<String>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known: HashMap<(DefinitionKind, &str), usize> = HashMap::new();
    let named = declarations.iter().enumerate().filter_map(|(index, declaration)| Some((index, declaration.name.as_deref()?)));
    for (index, name) in named {
        let declaration = &declarations[index];
        match known.get(&(declaration.kind, name)) {
            None => drop(known.insert((declaration.kind, name), index)),
            Some(first) => problems.push(declared_twice(declaration, &declarations[*first])),
        }
    }
    unknown_names(declarations, &known, doubtful, &mut problems);
    cycles(declarations, &known, &mut problems);
    problems
}

fn declared_twice(second: &Declaration<'_>, first: &Declaration<'_>) -> Problem {
    let kind = second.kind.as_str();
    let place = format!("{}:{}:{}", first.file, first.mark.line, first.mark.column);
    let message = format!("the {kind} `{}` is declared twice, first at {place}", second.title());
    problem(second.file, second.mark, Code::DeclaredTwice, message, Some("rename one of them".to_owned()))
}

/// One problem for each unknown name, at the first place that uses it, with the number of the others.
fn unknown_names(
    declarations: &[Declaration<'_>],
    known: &HashMap<(DefinitionKind, &str), usize>,
    doubtful: &HashSet<String>,
    problems: &mut Vec<Problem>,
) {
    let mut uses: BTreeMap<(DefinitionKind, &str), Vec<(&str, Mark)>> = BTreeMap::new();
    for declaration in declarations {
        for reference in &declaration.references {
            let key = (reference.kind, reference.name.as_str());
            let built_in = key == (DefinitionKind::Tier, Tier::DEFAULT);
            if !built_in && !known.contains_key(&key) && !doubtful.contains(&reference.name) {
                uses.entry(key).or_default().push((declaration.file, reference.mark));
            }
        }
    }
    for (number, ((kind, name), places)) in uses.into_iter().enumerate() {
        let names = || known.keys().filter(|(other, _)| *other == kind).map(|(_, name)| *name);
        let built_in = (kind == DefinitionKind::Tier).then_some(Tier::DEFAULT);
        let meant = if number < MOST_SUGGESTIONS { closest(name, names().chain(built_in)) } else { None };
        problems.push(unknown_name(kind, name, &places, meant));
    }
}

fn unknown_name(kind: DefinitionKind, name: &str, places: &[(&str, Mark)], meant: Option<&str>) -> Problem {
    let (code, what) = match kind {
        DefinitionKind::Job => (Code::UnknownUnit, "unit"),
        DefinitionKind::Tier => (Code::UnknownTier, "tier"),
        DefinitionKind::Limit => (Code::UnknownLimit, "limit"),
    };
    let others = match places.len() - 1 {
        0 => String::new(),
        1 => ", which another place names too".to_owned(),
        others => format!(", which {others} other places name too"),
    };
    let hint = match (meant, kind) {
        (Some(meant), _) => Some(format!("did you mean `{meant}`?")),
        (None, DefinitionKind::Job) => None,
        (None, DefinitionKind::Tier | DefinitionKind::Limit) => Some(format!("declare it in a document with `kind: {what}`")),
    };
    let (file, mark) = places[0];
    problem(file, mark, code, format!("no {what} is named `{}`{others}", short(name)), hint)
}

/// Reports each circle of needs once, at the need of its first unit.
fn cycles(declarations: &[Declaration<'_>], known: &HashMap<(DefinitionKind, &str), usize>, problems: &mut Vec<Problem>) {
    let edges: Vec<Vec<(usize, Mark)>> = declarations
        .iter()
        .map(|declaration| {
            let needs = declaration.references.iter().filter(|reference| reference.kind == DefinitionKind::Job);
            needs.filter_map(|need| Some((*known.get(&(DefinitionKind::Job, need.name.as_str()))?, need.mark))).collect()
        })
        .collect();
    for circle in circles(&edges) {
        problems.push(circle_problem(&circle, declarations, &edges));
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    Never,
    /// On the path that is being walked.
    Open,
    Done,
}

/// The circles that a walk closes, depth first with a stack of its own: a chain of 10,000 needs is legal.
fn circles(edges: &[Vec<(usize, Mark)>]) -> Vec<Vec<usize>> {
    let (mut circles, mut closed) = (Vec::new(), HashSet::new());
    let mut visits = vec![Visit::Never; edges.len()];
    for start in 0..edges.len() {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if visits[start] == Visit::Never {
            visits[start] = Visit::Open;
            path.push((start, 0));
        }
        while let Some((unit, next)) = path.last_mut() {
            let Some((needed, _)) = edges[*unit].get(*next).copied() else {
                visits[*unit] = Visit::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match visits[needed] {
                Visit::Done => {}
                Visit::Never => {
                    visits[needed] = Visit::Open;
                    path.push((needed, 0));
                }
                Visit::Open if circles.len() < MOST_CIRCLES && closed.insert(needed) => {
                    let from = path.iter().position(|(unit, _)| *unit == needed).expect("an open unit is on the path");
                    circles.push(path[from..].iter().map(|(unit, _)| *unit).collect());
                }
                Visit::Open => {}
            }
        }
    }
    circles
}

fn circle_problem(circle: &[usize], declarations: &[Declaration<'_>], edges: &[Vec<(usize, Mark)>]) -> Problem {
    // Told from the unit that comes first in the files, whichever the walk met first.
    let turn = circle.iter().enumerate().min_by_key(|(_, unit)| **unit).map_or(0, |(position, _)| position);
    let mut units: Vec<usize> = circle[turn..].iter().chain(&circle[..turn]).copied().collect();
    let (first, second) = (units[0], units.get(1).copied().unwrap_or(units[0]));
    units.push(first);
    let mark = edges[first].iter().find(|(needed, _)| *needed == second).map_or(declarations[first].mark, |(_, mark)| *mark);
    let message = if second == first {
        format!("the unit `{}` needs itself", declarations[first].title())
    } else {
        let names: Vec<String> = units.iter().map(|unit| format!("`{}`", declarations[*unit].title())).collect();
        format!("units need each other in a circle: {}", told(&names))
    };
    problem(declarations[first].file, mark, Code::NeedCycle, message, Some("take one of the needs away".to_owned()))
}

/// All of a circle in words; the middle of a very long one is left out.
fn told(names: &[String]) -> String {
    const MOST: usize = 20;
    if names.len() <= MOST {
        return names.join(" needs ");
    }
    let (head, tail) = (&names[..MOST / 2], &names[names.len() - MOST / 2..]);
    format!("{} needs … ({} more) … needs {}", head.join(" needs "), names.len() - MOST, tail.join(" needs "))
}
