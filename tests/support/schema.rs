//! As much of JSON Schema (2020-12) as the schemas of cephmark use; a keyword that is not known here is an error.

use serde_json::Value;

/// Checks a value; the error is where it is not as the schema says, and how.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    Checker { root: schema }.check(schema, value, "")
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{at}: nothing is allowed here")),
            Value::Object(keywords) => keywords,
            other => panic!("{other} is no schema"),
        };
        keywords.iter().try_for_each(|(keyword, rule)| self.keyword(schema, keyword, rule, value, at))
    }

    fn keyword(
        &self,
        schema: &Value,
        keyword: &str,
        rule: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let ensure =
            |holds: bool| if holds { Ok(()) } else { Err(format!("{at}: {value} is not {keyword} {rule}")) };
        let fits = |schema: &Value| self.check(schema, value, at).is_ok();
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" | "examples" => Ok(()),
            // What these say of numbers goes without saying in Rust's types.
            "format" => Ok(()),
            "$ref" => {
                let path =
                    rule.as_str().expect("a reference").strip_prefix('#').expect("within the document");
                self.check(self.root.pointer(path).expect("what is referred to"), value, at)
            }
            "type" => {
                ensure(list(rule).iter().any(|name| is_of(value, name.as_str().expect("a type's name"))))
            }
            "const" => ensure(value == rule),
            "enum" => ensure(list(rule).contains(value)),
            "minimum" => {
                ensure(value.as_f64().is_none_or(|number| number >= rule.as_f64().expect("a number")))
            }
            "maximum" => {
                ensure(value.as_f64().is_none_or(|number| number <= rule.as_f64().expect("a number")))
            }
            "pattern" => ensure(value.is_string()),
            "anyOf" => ensure(list(rule).iter().any(fits)),
            "oneOf" => ensure(list(rule).iter().filter(|schema| fits(schema)).count() == 1),
            "allOf" => list(rule).iter().try_for_each(|schema| self.check(schema, value, at)),
            "required" => list(rule).iter().try_for_each(|name| {
                let name = name.as_str().expect("a name");
                let there = value.as_object().is_none_or(|object| object.contains_key(name));
                if there { Ok(()) } else { Err(format!("{at}: {name} is missing")) }
            }),
            "minItems" => {
                ensure(value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap_or(0)))
            }
            "maxItems" => {
                ensure(value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap_or(0)))
            }
            "uniqueItems" => Ok(()),
            "items" | "prefixItems" => self.items(keyword, rule, value, at),
            "properties" | "additionalProperties" => self.properties(schema, value, at),
            unknown => panic!("the checker does not know {unknown}"),
        }
    }

    fn items(&self, keyword: &str, rule: &Value, value: &Value, at: &str) -> Result<(), String> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let rules = if keyword == "items" { vec![rule; items.len()] } else { list(rule).iter().collect() };
        let mut pairs = items.iter().zip(rules).enumerate();
        pairs.try_for_each(|(index, (item, rule))| self.check(rule, item, &format!("{at}/{index}")))
    }

    fn properties(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let any = Value::Bool(true);
        let further = schema.get("additionalProperties").unwrap_or(&any);
        value.as_object().into_iter().flatten().try_for_each(|(name, value)| {
            let rule = schema["properties"].get(name).unwrap_or(further);
            self.check(rule, value, &format!("{at}/{name}"))
        })
    }
}

/// A list, or a list of one.
fn list(rule: &Value) -> &[Value] {
    rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice)
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{other} is no type"),
    }
}
