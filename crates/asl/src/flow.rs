//! How data flows through a state, and the states that do nothing else.

use std::sync::Arc;

use crate::core::Purpose;
use crate::definition::{Amount, Condition, Language, Next, ResultPath, Rule, Select, State, StateId, Text, WaitFor};
use crate::fault::{Fault, names};
use crate::frame::{Doing, FrameId};
use crate::step::{Given, Step};
use crate::template::{Scope, Template};
use crate::time::{after, parse_timestamp};
use crate::{Failure, Map, Value, size};

impl Step<'_> {
    /// `InputPath` and `OutputPath`.
    pub(crate) fn select(&mut self, id: FrameId, select: &Select, data: Value) -> Result<Value, Fault> {
        match select {
            Select::Whole => Ok(data),
            Select::Nothing => Ok(Value::empty_object()),
            Select::Path(path) => self.with_scope(id, Given::input(&data), |scope| {
                let found = path.find(scope.input, scope.around);
                found.map_err(|missing| Fault::invalid_path(path.text(), &path.explain(&missing)))
            }),
        }
    }

    /// Leaves a state that has a result: `ResultSelector`, `ResultPath`, `OutputPath`, `Assign`, `Output`.
    pub(crate) fn complete(&mut self, id: FrameId, result: Value) -> Result<(), Fault> {
        let state = self.state_of(id);
        let raw = self.frame(id).input.clone();
        let output = match state.language {
            Language::JsonPath => {
                let selected = match &state.result_selector {
                    Some(selector) => self.fill(id, selector, Given::input(&result))?,
                    None => result.clone(),
                };
                let combined = combine(&state.result_path, raw, selected)?;
                self.select(id, &state.output_path, combined)?
            }
            Language::Jsonata => match &state.output {
                Some(output) => self.fill(id, output, Given { result: Some(&result), ..Given::input(&raw) })?,
                None => result.clone(),
            },
        };
        let variables = match (&state.assign, state.language) {
            (None, _) => None,
            (Some(assign), Language::JsonPath) => Some(self.assigned(id, assign, Given::input(&result))?),
            (Some(assign), Language::Jsonata) => {
                let raw = self.frame(id).input.clone();
                Some(self.assigned(id, assign, Given { result: Some(&result), ..Given::input(&raw) })?)
            }
        };
        self.leave(id, state.next, output, variables)
    }

    /// Leaves a state that has no result of its own: the output is the (effective) input, or `Output`.
    pub(crate) fn pass_on(
        &mut self,
        id: FrameId,
        input: Value,
        next: Next,
        assign: Option<&Template>,
        output: Option<&Template>,
    ) -> Result<(), Fault> {
        let state = self.state_of(id);
        let variables = match assign {
            Some(assign) => Some(self.assigned(id, assign, Given::input(&input))?),
            None => None,
        };
        let output = match (state.language, output) {
            (Language::JsonPath, _) => self.select(id, &state.output_path, input)?,
            (Language::Jsonata, Some(output)) => self.fill(id, output, Given::input(&input))?,
            (Language::Jsonata, None) => input,
        };
        self.leave(id, next, output, variables)
    }

    /// The variables after `Assign`: all are evaluated on the values from before.
    pub(crate) fn assigned(&mut self, id: FrameId, assign: &Template, given: Given<'_>) -> Result<Arc<Map>, Fault> {
        let Value::Object(fresh) = self.fill(id, assign, given)? else {
            return Err(Fault::runtime("The field 'Assign' must evaluate to an object"));
        };
        let mut variables = Arc::clone(&self.frame(id).variables);
        let known = Arc::make_mut(&mut variables);
        for (name, value) in fresh.iter() {
            known.insert(Arc::clone(name), value.clone());
        }
        Ok(variables)
    }

    pub(crate) fn leave(&mut self, id: FrameId, next: Next, output: Value, variables: Option<Arc<Map>>) -> Result<(), Fault> {
        self.check_size(id, &output)?;
        self.record(id, 1);
        if let Some(variables) = variables {
            self.frame_mut(id).variables = variables;
        }
        match next {
            Next::State(next) => self.go(id, next, output),
            Next::End => self.end(id, Ok(output)),
        }
        Ok(())
    }

    fn check_size(&self, id: FrameId, output: &Value) -> Result<(), Fault> {
        if output.same(&self.frame(id).input) || !size::exceeds(output, self.core.start.limits.payload) {
            return Ok(());
        }
        let name = &self.state_of(id).name;
        Err(Fault::bare(names::DATA_LIMIT_EXCEEDED, too_large(name)))
    }

    pub(crate) fn pass(
        &mut self,
        id: FrameId,
        state: &State,
        result: Option<&Value>,
        parameters: Option<&Template>,
    ) -> Result<(), Fault> {
        let input = self.effective_input(id, state)?;
        if state.language == Language::Jsonata {
            return self.pass_on(id, input, state.next, state.assign.as_ref(), state.output.as_ref());
        }
        let result = match (result, parameters) {
            (Some(result), _) => result.clone(),
            (None, Some(parameters)) => self.fill(id, parameters, Given::input(&input))?,
            (None, None) => input,
        };
        self.complete(id, result)
    }

    pub(crate) fn succeed(&mut self, id: FrameId, state: &State) -> Result<(), Fault> {
        let input = self.effective_input(id, state)?;
        self.pass_on(id, input, Next::End, None, state.output.as_ref())
    }

    pub(crate) fn fail_state(&mut self, id: FrameId, error: Option<&Text>, cause: Option<&Text>) -> Result<(), Fault> {
        let error = self.words(id, "Error", error)?;
        let cause = self.words(id, "Cause", cause)?;
        self.end(id, Err(Failure { error, cause }));
        Ok(())
    }

    fn words(&mut self, id: FrameId, field: &str, text: Option<&Text>) -> Result<Option<Arc<str>>, Fault> {
        let Some(text) = text else { return Ok(None) };
        let by_path = format!("{field}Path");
        let input = self.frame(id).input.clone();
        let value = self.with_scope(id, Given::input(&input), |scope| find_text(text, &by_path, scope))?;
        match value {
            Value::String(text) => Ok(Some(text)),
            other => Err(Fault::runtime(format!("The field '{field}' must be a string but was {other}"))),
        }
    }

    pub(crate) fn choose(&mut self, id: FrameId, state: &State, rules: &[Rule], default: Option<StateId>) -> Result<(), Fault> {
        let input = self.effective_input(id, state)?;
        let chosen = self.with_scope(id, Given::input(&input), |scope| {
            for rule in rules {
                if holds(&rule.condition, scope)? {
                    return Ok(Some(rule));
                }
            }
            Ok(None)
        })?;
        match (chosen, default) {
            (Some(rule), _) => {
                let output = rule.output.as_ref().or(state.output.as_ref());
                self.pass_on(id, input, Next::State(rule.next), rule.assign.as_ref(), output)
            }
            (None, Some(default)) => {
                let next = Next::State(default);
                self.pass_on(id, input, next, state.assign.as_ref(), state.output.as_ref())
            }
            (None, None) => Err(Fault {
                error: names::NO_CHOICE_MATCHED,
                detail: "No choice rule matched and there is no default".to_owned(),
                located: true,
            }),
        }
    }

    pub(crate) fn wait(&mut self, id: FrameId, state: &State, until: &WaitFor) -> Result<(), Fault> {
        let input = self.effective_input(id, state)?;
        let at = match until {
            WaitFor::Seconds(amount) => after(self.now, self.wait_seconds(id, amount, &input)?),
            WaitFor::Timestamp(text) => self.wait_until(id, text, &input)?,
        };
        if at <= self.now {
            return self.pass_on(id, input, state.next, state.assign.as_ref(), state.output.as_ref());
        }
        let timer = self.arm(at, Purpose::Wake(id));
        self.frame_mut(id).doing = Doing::Waiting { timer };
        Ok(())
    }

    /// Goes on after a Wait state.
    pub(crate) fn wake(&mut self, id: FrameId) {
        let state = self.state_of(id);
        let done = self
            .effective_input(id, state)
            .and_then(|input| self.pass_on(id, input, state.next, state.assign.as_ref(), state.output.as_ref()));
        if let Err(fault) = done {
            self.fault(id, fault);
        }
    }

    fn wait_seconds(&mut self, id: FrameId, amount: &Amount, input: &Value) -> Result<f64, Fault> {
        if let Amount::Path(path) = amount {
            let found = self.with_scope(id, Given::input(input), |scope| Ok(path.find(scope.input, scope.around).ok()))?;
            let path = path.text();
            let Some(value) = found else {
                return Err(Fault::runtime(format!("The SecondsPath parameter does not reference an input value: {path}")));
            };
            return match value.as_i64() {
                Some(seconds) if seconds < 0 => {
                    Err(Fault::runtime(format!("The SecondsPath parameter references a negative value: {path} == {seconds}")))
                }
                #[expect(clippy::cast_precision_loss, reason = "spans are shorter than 2^53 seconds")]
                Some(seconds) => Ok(seconds as f64),
                None => Err(Fault::runtime(format!(
                    "The SecondsPath parameter does not reference a valid integer: {path} == {value}"
                ))),
            };
        }
        let value = self.amount(id, amount, "Seconds", input)?;
        value
            .as_f64()
            .filter(|seconds| *seconds >= 0.0)
            .ok_or_else(|| Fault::runtime(format!("The Seconds field must be a number that is not negative but was: {value}")))
    }

    fn wait_until(&mut self, id: FrameId, text: &Text, input: &Value) -> Result<jiff::Timestamp, Fault> {
        let value = self.with_scope(id, Given::input(input), |scope| find_text(text, "TimestampPath", scope))?;
        let moment = value.as_str().and_then(parse_timestamp);
        let plain = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        moment.ok_or_else(|| match text {
            Text::Path(path) => Fault::runtime(format!(
                "The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format \
                 string: {} == {}",
                path.text(),
                plain()
            )),
            Text::Fixed(_) | Text::Call(_) | Text::Expression(_) => Fault::query(format!(
                "The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: {}",
                plain()
            )),
        })
    }

    /// The value of a number that the definition gives, or says where to find.
    pub(crate) fn amount(&mut self, id: FrameId, amount: &Amount, _field: &str, input: &Value) -> Result<Value, Fault> {
        match amount {
            Amount::Fixed(value) => Ok(value.clone()),
            Amount::Path(path) => self.with_scope(id, Given::input(input), |scope| {
                let found = path.find(scope.input, scope.around);
                found.map_err(|missing| Fault::invalid_path(path.text(), &path.explain(&missing)))
            }),
            Amount::Expression(expression) => self.with_scope(id, Given::input(input), |scope| expression.evaluate(scope)),
        }
    }
}

/// The words for a payload that is too large.
pub(crate) fn too_large(what: &str) -> String {
    format!("The state/task '{what}' returned a result with a size exceeding the maximum number of bytes service limit.")
}

fn find_text(text: &Text, field: &str, scope: &mut Scope<'_>) -> Result<Value, Fault> {
    match text {
        Text::Fixed(text) => Ok(Value::String(Arc::clone(text))),
        Text::Path(path) => {
            path.find(scope.input, scope.around).map_err(|_| Fault::path_not_found(path.text(), field, scope.input))
        }
        Text::Call(call) => call.evaluate(field, scope.input, scope.around, scope.random),
        Text::Expression(expression) => expression.evaluate(scope),
    }
}

fn holds(condition: &Condition, scope: &mut Scope<'_>) -> Result<bool, Fault> {
    match condition {
        Condition::Fixed(truth) => Ok(*truth),
        Condition::Test(test) => test.holds(scope),
        Condition::Expression(expression) => match expression.evaluate(scope)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(expression.unexpected("boolean", &other)),
        },
    }
}

/// The raw input with the result where `ResultPath` says.
pub(crate) fn combine(path: &ResultPath, raw: Value, result: Value) -> Result<Value, Fault> {
    match path {
        ResultPath::Whole => Ok(result),
        ResultPath::Discard => Ok(raw),
        ResultPath::At(path) => {
            let before = raw.clone();
            path.put(raw, result).map_err(|_| Fault {
                error: names::RESULT_PATH_MATCH_FAILURE,
                detail: format!("Unable to apply ReferencePath {} to input {before}", path.path().text()),
                located: true,
            })
        }
    }
}
