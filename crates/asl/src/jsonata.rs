//! JSONata expressions: `{% … %}`.

use std::sync::Arc;

use crate::Value;
use crate::fault::Fault;
use crate::template::Scope;

/// An expression, with the field that it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    source: Arc<str>,
    field: Arc<str>,
}

impl Expression {
    /// The expression inside a text that is wholly `{% … %}`.
    pub(crate) fn delimited(text: &str) -> Option<&str> {
        text.strip_prefix("{%")?.strip_suffix("%}")
    }

    /// Reads an expression; the error is the reason why it cannot be read.
    pub(crate) fn parse(source: &str, _field: &str) -> Result<Expression, String> {
        Err(format!("JSONata is not supported yet: {source}"))
    }

    pub(crate) fn evaluate(&self, _scope: &mut Scope<'_>) -> Result<Value, Fault> {
        Err(Fault::query(format!(
            "The JSONata expression '{}' specified for the field '{}' cannot be evaluated",
            self.source, self.field
        )))
    }

    /// The fault of a value that is not of the type which the field takes.
    pub(crate) fn unexpected(&self, wanted: &str, found: &Value) -> Fault {
        Fault::query(format!(
            "The JSONata expression '{}' specified for the field '{}' returned an unexpected result type. Expected \
             '{wanted}', but was '{}' for value: {found}",
            self.source,
            self.field,
            found.type_name()
        ))
    }
}
