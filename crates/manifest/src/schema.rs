//! The JSON Schema of manifests.

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Value, json};

use crate::grammar::Manifest;

/// The JSON Schema (draft 2020-12) of one document of a manifest, for editors.
///
/// It knows the same keys as [`read`](crate::read), but not what only all files together tell, such as unknown names.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Manifest>();
    Plain.transform(&mut schema);
    schema.insert("title".to_owned(), json!("Muster manifest"));
    schema.insert("description".to_owned(), json!("One document of a manifest: a job, a tier or a limit."));
    schema.into()
}

/// Takes out what derived schemas say and manifests do not mean: `null` for optional keys, and formats of machine numbers.
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("format");
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_owned(), only);
            }
        }
        for key in ["anyOf", "oneOf", "enum"] {
            if let Some(Value::Array(options)) = schema.get_mut(key) {
                options.retain(|option| !option.is_null() && option.get("type") != Some(&json!("null")));
            }
        }
        lift_single_option(schema);
        transform_subschemas(self, schema);
    }
}

/// `anyOf` with one option is that option.
fn lift_single_option(schema: &mut Schema) {
    let Some(Value::Array(options)) = schema.get("anyOf") else { return };
    let [Value::Object(only)] = options.as_slice() else { return };
    let only = only.clone();
    schema.remove("anyOf");
    for (key, value) in only {
        if schema.get(&key).is_none() {
            schema.insert(key, value);
        }
    }
}
