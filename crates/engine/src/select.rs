//! Which items a selection holds, in which order, with which parameters.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use model::{Item, Parameter, RunOptions, Selection, Tier, TierName, Timestamp, Unit, UnitName};
use serde_json::Value;

/// The most items that a run may hold: what a distributed Map of the cloud runs at once, so that every item can wait at the gate.
pub const MOST_ITEMS: usize = 10_000;

/// A unit that could be selected.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its current revision.
    pub revision: u64,
    /// The unit.
    pub unit: &'a Unit,
    /// Set where an operator disabled it; a half sentence.
    pub disabled: Option<&'a str>,
}

/// An item of an earlier run that is to be run again.
#[derive(Debug, Clone)]
pub struct Again {
    /// The unit.
    pub unit: UnitName,
    /// Its revision then.
    pub revision: u64,
    /// Its tier then.
    pub tier: TierName,
    /// Its parameters then.
    pub parameters: BTreeMap<String, Value>,
    /// Its nominal time then.
    pub slot: Timestamp,
}

/// One thing wrong with a request to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Stable code, `E-R…`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The word that is not known and what is known instead, for a suggestion.
    pub unknown: Option<(String, Vec<String>)>,
}

fn mistake(code: &'static str, message: String) -> Mistake {
    Mistake { code, message, unknown: None }
}

/// The items of a selection by name or tag, ordered so that needs point backwards and, among those free to go, higher priority goes first.
///
/// # Errors
/// Every mistake of the request at once.
pub fn select(
    candidates: &[Candidate<'_>],
    tiers: &BTreeMap<TierName, Tier>,
    selection: &Selection,
    options: &RunOptions,
) -> Result<Vec<Item>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let chosen = choose(candidates, selection, &mut mistakes);
    check_request(&chosen, tiers, options, &mut mistakes);
    let mut items = Vec::with_capacity(chosen.len());
    for candidate in order(&chosen) {
        let unit = candidate.unit;
        let parameters = fill(unit, options, &mut mistakes);
        let tier = options.tier.as_ref().unwrap_or(&unit.tier);
        let launch = tiers.get(tier).map_or("process", |tier| tier.launch.as_str()).to_owned();
        let number = u32::try_from(items.len()).unwrap_or(u32::MAX);
        items.push(Item {
            item: number,
            unit: unit.name.clone(),
            revision: candidate.revision,
            tier: tier.clone(),
            launch,
            parameters,
            slot: options.slot,
        });
    }
    if mistakes.is_empty() { Ok(items) } else { Err(mistakes) }
}

/// The items of a run that repeats what did not succeed, with the revisions, parameters and nominal times they had.
pub fn again(tiers: &BTreeMap<TierName, Tier>, earlier: Vec<Again>) -> Vec<Item> {
    let item = |(number, again): (u32, Again)| Item {
        item: number,
        launch: tiers.get(&again.tier).map_or("process", |tier| tier.launch.as_str()).to_owned(),
        unit: again.unit,
        revision: again.revision,
        tier: again.tier,
        parameters: again.parameters,
        slot: again.slot,
    };
    (0..).zip(earlier).map(item).collect()
}

fn choose<'a>(candidates: &[Candidate<'a>], selection: &Selection, mistakes: &mut Vec<Mistake>) -> Vec<Candidate<'a>> {
    let is_on = |candidate: &&Candidate<'_>| candidate.unit.enabled && candidate.disabled.is_none();
    let chosen: Vec<Candidate<'a>> = match selection {
        Selection::All => candidates.iter().filter(is_on).copied().collect(),
        Selection::Tags { tags } => {
            let known: BTreeSet<&str> =
                candidates.iter().flat_map(|candidate| &candidate.unit.tags).map(String::as_str).collect();
            for tag in tags.iter().filter(|tag| !known.contains(tag.as_str())) {
                let unknown = Some((tag.clone(), known.iter().map(|tag| (*tag).to_owned()).collect()));
                mistakes.push(Mistake { code: "E-R02", message: format!("no unit has the tag `{tag}`"), unknown });
            }
            let tagged = |candidate: &&Candidate<'_>| candidate.unit.tags.iter().any(|tag| tags.contains(tag));
            candidates.iter().filter(is_on).filter(tagged).copied().collect()
        }
        Selection::Units { units } => named(candidates, units, mistakes),
        Selection::Retry { .. } => Vec::new(),
    };
    if chosen.is_empty() && mistakes.is_empty() {
        mistakes.push(mistake("E-R03", "nothing to run: no enabled unit is selected".to_owned()));
    }
    if chosen.len() > MOST_ITEMS {
        let message = format!("{} items are more than the {MOST_ITEMS} that one run may hold; select fewer units", chosen.len());
        mistakes.push(mistake("E-R09", message));
    }
    chosen
}

fn named<'a>(candidates: &[Candidate<'a>], units: &[UnitName], mistakes: &mut Vec<Mistake>) -> Vec<Candidate<'a>> {
    let by_name: HashMap<&UnitName, &Candidate<'a>> =
        candidates.iter().map(|candidate| (&candidate.unit.name, candidate)).collect();
    let mut seen = HashSet::new();
    let mut chosen = Vec::new();
    for name in units.iter().filter(|name| seen.insert(*name)) {
        match by_name.get(name) {
            None => {
                let known = candidates.iter().map(|candidate| candidate.unit.name.to_string()).collect();
                let message = format!("there is no unit `{name}`");
                mistakes.push(Mistake { code: "E-R01", message, unknown: Some((name.to_string(), known)) });
            }
            Some(candidate) => match (candidate.unit.enabled, candidate.disabled) {
                (true, None) => chosen.push(**candidate),
                (false, _) => {
                    mistakes.push(mistake("E-R04", format!("unit `{name}` is disabled in its manifest (enabled: false)")))
                }
                (true, Some(why)) => {
                    mistakes.push(mistake(
                        "E-R04",
                        format!("unit `{name}` is {why}; `muster units enable {name}` lets it start again"),
                    ));
                }
            },
        }
    }
    chosen
}

fn check_request(chosen: &[Candidate<'_>], tiers: &BTreeMap<TierName, Tier>, options: &RunOptions, mistakes: &mut Vec<Mistake>) {
    if let Some(tier) = options.tier.as_ref().filter(|tier| !tiers.contains_key(*tier)) {
        let unknown = Some((tier.to_string(), tiers.keys().map(ToString::to_string).collect()));
        mistakes.push(Mistake { code: "E-R05", message: format!("there is no tier `{tier}`"), unknown });
    }
    if !options.arguments.is_empty() && chosen.len() > 1 {
        let message = format!("arguments after `--` go to one unit, and {} are selected", chosen.len());
        mistakes.push(mistake("E-R06", message));
    }
    let declared: BTreeSet<&str> =
        chosen.iter().flat_map(|candidate| candidate.unit.parameters.keys()).map(String::as_str).collect();
    if chosen.is_empty() {
        return;
    }
    for name in options.parameters.keys().filter(|name| !declared.contains(name.as_str())) {
        let unknown = Some((name.clone(), declared.iter().map(|name| (*name).to_owned()).collect()));
        mistakes.push(Mistake { code: "E-R07", message: format!("no selected unit has a parameter `{name}`"), unknown });
    }
}

fn fill(unit: &Unit, options: &RunOptions, mistakes: &mut Vec<Mistake>) -> BTreeMap<String, Value> {
    let mut filled = BTreeMap::new();
    for (name, parameter) in &unit.parameters {
        match (options.parameters.get(name), &parameter.default) {
            (Some(given), _) => match read(parameter, given) {
                Ok(value) => {
                    filled.insert(name.clone(), value);
                }
                Err(why) => mistakes.push(mistake("E-R08", format!("parameter `{name}` of unit `{}`: {why}", unit.name))),
            },
            (None, Some(default)) => {
                filled.insert(name.clone(), default.clone());
            }
            (None, None) => {
                let message = format!("unit `{}` needs parameter `{name}`: add `--param {name}=…`", unit.name);
                mistakes.push(mistake("E-R08", message));
            }
        }
    }
    filled
}

/// A value from a command line is text whatever the type; one from an API has its type.
fn read(parameter: &Parameter, given: &Value) -> Result<Value, String> {
    match given {
        Value::String(text) => parameter.read(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            parameter.check(given).map(|()| given.clone())
        }
    }
}

/// Needs first; among those free to go, higher priority, then name.
fn order<'a>(chosen: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
    let places: HashMap<&UnitName, usize> =
        chosen.iter().enumerate().map(|(place, candidate)| (&candidate.unit.name, place)).collect();
    let mut unmet = vec![0_usize; chosen.len()];
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); chosen.len()];
    for (place, candidate) in chosen.iter().enumerate() {
        let needs: HashSet<usize> = candidate.unit.needs.iter().filter_map(|need| places.get(&need.unit).copied()).collect();
        unmet[place] = needs.len();
        for need in needs {
            needed_by[need].push(place);
        }
    }
    let rank = |place: usize| (chosen[place].unit.priority, std::cmp::Reverse(&chosen[place].unit.name), place);
    let mut free: BinaryHeap<_> = (0..chosen.len()).filter(|place| unmet[*place] == 0).map(rank).collect();
    let mut ordered = Vec::with_capacity(chosen.len());
    while let Some((_, _, place)) = free.pop() {
        ordered.push(chosen[place]);
        for waiting in &needed_by[place] {
            unmet[*waiting] -= 1;
            if unmet[*waiting] == 0 {
                free.push(rank(*waiting));
            }
        }
    }
    ordered
}
