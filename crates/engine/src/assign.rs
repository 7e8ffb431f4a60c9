//! What exactly a worker is told: one function for the plan that people read and the assignment that runs.

use std::collections::BTreeMap;

use model::{
    Assignment, Baseline, CURRENT_CONTRACT, Digest, Execution, ExitMeaning, PermitKey, Run, Template, TemplateValues, Tier, Unit,
};
use serde_json::Value;

use crate::gate::Request;

/// The prefix of variables that carry parameters.
pub const PARAMETER_PREFIX: &str = "MUSTER_PARAM_";

/// The assignment of one attempt.
pub fn assignment(
    run: &Run,
    execution: &Execution,
    attempt: u32,
    unit: &Unit,
    tier: &Tier,
    baselines: Vec<Baseline>,
) -> Assignment {
    let values = TemplateValues {
        slot: execution.slot,
        execution: execution.id,
        attempt,
        unit: &unit.name,
        scope: &execution.scope,
        limit: run.options.limit,
        parameters: &execution.parameters,
    };
    let own = unit.run.iter().map(|part| part.render(&values));
    Assignment {
        contract: CURRENT_CONTRACT,
        scope: execution.scope.clone(),
        execution: execution.id,
        attempt,
        unit: unit.name.clone(),
        run: own.chain(run.options.arguments.iter().cloned()).collect(),
        location: unit.location.clone(),
        environment: environment(unit, &values),
        pass_environment: unit.pass_environment.clone(),
        secrets: unit.secrets.clone(),
        success_codes: success_codes(unit),
        resources: tier.resources,
        running: unit.timeouts.running,
        stopping: unit.timeouts.stopping,
        artifacts: unit.artifacts.clone(),
        baselines,
        slot: execution.slot,
        limit: run.options.limit,
        correlation: run.correlation.clone(),
    }
}

fn success_codes(unit: &Unit) -> Vec<u8> {
    (0..=u8::MAX).filter(|code| crate::judge::meaning(unit, *code) == Some(ExitMeaning::Success)).collect()
}

fn environment(unit: &Unit, values: &TemplateValues<'_>) -> BTreeMap<String, String> {
    let scope = values.scope;
    let mut environment: BTreeMap<String, String> =
        unit.environment.iter().map(|(name, template): (&String, &Template)| (name.clone(), template.render(values))).collect();
    let mut set = |name: &str, value: String| environment.insert(name.to_owned(), value);
    set("MUSTER_RUN", values.execution.run.to_string());
    set("MUSTER_EXECUTION", values.execution.to_string());
    set("MUSTER_ATTEMPT", values.attempt.to_string());
    set("MUSTER_UNIT", unit.name.to_string());
    set("MUSTER_TENANT", scope.tenant().to_owned());
    set("MUSTER_ORG", scope.org().to_owned());
    set("MUSTER_PROJECT", scope.project().to_owned());
    set("MUSTER_SLOT", values.slot.to_string());
    if let Some(limit) = values.limit {
        set("MUSTER_LIMIT", limit.to_string());
    }
    for (name, value) in values.parameters {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set(&format!("{PARAMETER_PREFIX}{}", name.to_uppercase().replace('-', "_")), text);
    }
    environment
}

/// What the execution asks of the gate: narrowest key first.
pub fn request(
    run: &Run,
    execution: &Execution,
    unit: &Unit,
    tier: &Tier,
    limits: impl Fn(&model::LimitName) -> Option<u32>,
) -> Request {
    let mut keys = Vec::new();
    if let Some(concurrency) = &unit.concurrency {
        let key = match &concurrency.per {
            None => PermitKey::Unit(unit.name.clone()),
            Some(parameter) => {
                let value = execution.parameters.get(parameter).unwrap_or(&Value::Null);
                PermitKey::UnitValue(unit.name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            }
        };
        keys.push((key, concurrency.limit));
    }
    // A limit that is no longer declared binds nobody.
    let shared = unit.limits.iter().filter_map(|name| limits(name).map(|limit| (PermitKey::Limit(name.clone()), limit)));
    keys.extend(shared);
    keys.push((PermitKey::Tier(tier.name.clone()), tier.capacity));
    if let Some(limit) = run.options.concurrency {
        keys.push((PermitKey::Run(run.id), limit));
    }
    Request {
        execution: execution.id,
        unit: unit.name.clone(),
        keys,
        needs: unit.needs.iter().map(|need| (need.unit.clone(), need.verdict)).collect(),
        priority: i16::from(unit.priority) + i16::from(run.options.priority),
    }
}

/// What makes outputs comparable: unit, parameters, extra arguments. `None` under a scope cap: such a run never enters the baseline.
pub fn series(run: &Run, execution: &Execution) -> Option<Digest> {
    if run.options.limit.is_some() {
        return None;
    }
    let parameters = serde_json::to_string(&execution.parameters).expect("parameters are JSON with text keys");
    let arguments = serde_json::to_string(&run.options.arguments).expect("arguments are text");
    Some(Digest::of(format!("{}\n{parameters}\n{arguments}", execution.unit).as_bytes()))
}
