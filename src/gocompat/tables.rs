//! Reads the tables of Go's own answers for tests.

use serde_json::Value;

/// One row: the inputs of a case and what Go answered.
pub(crate) type Row = serde_json::Map<String, Value>;

/// A text of a row, empty when absent.
pub(crate) fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The texts that a table's patterns were tried on.
pub(crate) struct Texts(Vec<String>);

impl Texts {
    /// The texts for which a claim holds, in the table's order.
    pub(crate) fn matching(&self, claim: impl Fn(&str) -> bool) -> Value {
        self.0.iter().filter(|text| claim(text)).cloned().collect()
    }
}

/// Runs every row of a table and reports all that differ at once; gives the number of rows.
pub(crate) fn check(table: &str, run: impl Fn(&Row, &Texts) -> Result<Value, String>) -> usize {
    let mut table: Row = serde_json::from_str(table).expect("tables are JSON objects");
    let mut part = |name: &str| table.remove(name).unwrap_or_default();
    let texts = Texts(serde_json::from_value(part("texts")).expect("texts are a list"));
    let rows: Vec<Row> = serde_json::from_value(part("rows")).expect("rows are a list of objects");
    let mut wrong = Vec::new();
    for row in &rows {
        let expect = match row.get("error") {
            Some(error) => Err(error.as_str().unwrap_or_default().to_owned()),
            None => Ok(row.get("value").cloned().unwrap_or_default()),
        };
        let got = run(row, &texts);
        if got != expect {
            wrong.push(format!("{}\n  got: {got:?}", Value::Object(row.clone())));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    rows.len()
}
