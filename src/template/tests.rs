//! Rendering, held against Go's own answers.

use serde_json::{Value, json};

use super::*;

fn data() -> Value {
    json!({"name": "web", "n": 3, "big": 1e6, "nil": null, "list": ["a", "b"], "map": {"k": "v", "a": {"b": "c"}}, "yes": true})
}

#[test]
fn a_missing_key_is_treated_as_the_options_say() {
    let with = |option: &str| render("{{.x}}", &data(), &Options::parse(&[option.to_owned()]).expect("known"));
    assert_eq!(with("missingkey=default").as_deref(), Ok("<no value>"));
    let error = with("missingkey=error").expect_err("missing").to_string();
    assert_eq!(
        error,
        "failed to execute go template {{.x}}: template: base:1:2: executing \"base\" at <.x>: map has no entry for key \"x\""
    );
}

#[test]
fn names_are_replaced_where_they_are_known() {
    let params = [("a.b".to_owned(), "1".to_owned())].into();
    assert_eq!(replace("{{ a.b }}-{{c}}-{{}}", &params).as_deref(), Ok("1-{{c}}-{{}}"));
    assert_eq!(replace("{{ a.b", &params).as_deref(), Ok("{{ a.b"));
}

/// Rows that are known to differ, with the reason.
const UNLIKE: &[(&str, &str)] = &[
    (r##"{{define "a"}}{{template "a"}}{{end}}{{template "a"}}"##, DEPTH),
    (r##"{{printf "%+v %#v %#v %#v" .map .list .name .n}}"##, VERBS),
    (r##"{{printf "%[2]s %[1]s" "a" "b"}}"##, VERBS),
    (r##"{{printf "%*d" 5 3}}"##, VERBS),
    (r##"{{mustFromJson "x"}}"##, "the words of errors of JSON are other than Go's"),
    (r##"{{mustRegexMatch "(" "a"}}"##, PATTERN),
    (r##"{{regexFind "[z" "a"}}"##, PATTERN),
    (r##"{{mustRegexFind "*" "a"}} "##, PATTERN),
    (r##"{{mustRegexReplaceAll "a(?=b)" "ab" ""}}"##, PATTERN),
    (r##"{{mustRegexFindAll "[a-z" "a" -1}}"##, PATTERN),
    (r##"{{mustRegexSplit "a{2,1}" "a" -1}}"##, PATTERN),
    (r##"{{mustRegexReplaceAllLiteral "\\y" "a" "b"}}"##, PATTERN),
    (r##"{{mustRegexMatch "a)" "a"}}"##, PATTERN),
    (r##"{{mustRegexMatch "[b-a]" "a"}}"##, PATTERN),
    (r##"{{mustRegexMatch "\\" "a"}}"##, PATTERN),
    (r##"{{mustRegexMatch "a**" "a"}}"##, REPEAT),
    (r##"{{mustRegexMatch "a{1001}" "a"}}"##, REPEAT),
    (r##"{{(toDate "2006-01-02" "2017-12-31").Year}}"##, DATES),
    (
        r##"{{toDate "2006-01-02" "2017-12-31" | date "02/01/2006"}} {{toDate "2006-01-02" "2017-12-31" | unixEpoch}}"##,
        DATES,
    ),
    (
        r##"{{dateInZone "2006-01-02T15:04:05Z07:00" (toDate "2006-01-02" "2017-12-31") "UTC"}} {{htmlDateInZone 0 "UTC"}} {{dateInZone "Mon Jan 2 15:04:05 MST 2006" 1500000000 "UTC"}} {{dateInZone "06-1-2 3:4:5PM" 1500000000 "UTC"}}"##,
        DATES,
    ),
    (r##"{{mustToDate "2006-01-02" "x"}}"##, DATES),
];

const DEPTH: &str = "templates may be nested less deeply, so that the stack holds them";
const VERBS: &str = "`%#v` of lists and maps, `%[n]` and `%*` of printf are missing";
const PATTERN: &str = "the error names the whole pattern and not what is wrong in it";
const REPEAT: &str = "repetitions that Go refuses are taken";
const DATES: &str = "functions of dates are not supported";

/// Every row of the table that `corpus/golib/template` prints, results and error texts.
#[test]
fn templates_render_as_go_renders_them() {
    let table: Value = serde_json::from_str(include_str!("../../corpus/golib/template.json")).expect("a table");
    let rows = table["rows"].as_array().expect("rows");
    let mut wrong = Vec::new();
    for row in rows {
        let template = row["t"].as_str().expect("a template");
        let options: Vec<String> = serde_json::from_value(row["o"].clone()).unwrap_or_default();
        let options = Options::parse(&options).expect("known options");
        let got = render(template, &table["params"], &options).map_err(|error| error.to_string());
        let expect = match row["r"].as_str() {
            Some(result) => Ok(result.to_owned()),
            None => Err(row["e"].as_str().expect("an error").to_owned()),
        };
        let is_listed = UNLIKE.iter().any(|(listed, reason)| *listed == template && !reason.is_empty());
        if (got == expect) == is_listed {
            wrong.push(format!("{template}\n  want {expect:?}\n  got  {got:?}"));
        }
    }
    assert!(rows.len() >= 450, "the table is whole");
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
