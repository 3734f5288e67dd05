//! Which conditions stay, go, and keep their times.

use super::at;
use crate::api::status::Condition;
use crate::status::set_conditions;

fn condition(r#type: &str, message: &str, second: i64) -> Condition {
    Condition { last_transition_time: Some(at(second)), ..Condition::new(r#type, message) }
}

fn check(existing: &[Condition], new: &[(&str, &str)], evaluated: &[&str], expected: &[Condition]) {
    let new = new.iter().map(|(r#type, message)| Condition::new(r#type, *message)).collect();
    assert_eq!(set_conditions(existing, new, evaluated, at(9)), expected);
}

#[test]
fn evaluated_types_are_replaced_and_others_stay() {
    let existing = [condition("ComparisonError", "old", 1), condition("SyncError", "s", 1)];
    check(&existing, &[], &["ComparisonError"], &[condition("SyncError", "s", 1)]);
    let expected = [condition("ComparisonError", "new", 9), condition("SyncError", "s", 1)];
    check(&existing, &[("ComparisonError", "new")], &["ComparisonError"], &expected);
}

#[test]
fn every_condition_of_a_type_keeps_its_time_while_its_text_stays() {
    let existing = [condition("SharedResourceWarning", "a", 1), condition("SharedResourceWarning", "b", 2)];
    let new = [("SharedResourceWarning", "b"), ("SharedResourceWarning", "a"), ("SharedResourceWarning", "c")];
    let expected = [
        condition("SharedResourceWarning", "a", 1),
        condition("SharedResourceWarning", "b", 2),
        condition("SharedResourceWarning", "c", 9),
    ];
    check(&existing, &new, &["SharedResourceWarning"], &expected);
}

#[test]
fn types_outside_the_evaluated_set_are_added_beside_equal_ones() {
    let existing = [condition("InvalidSpecError", "x", 1)];
    let new = [("InvalidSpecError", "x"), ("InvalidSpecError", "y")];
    let expected = [
        condition("InvalidSpecError", "x", 1),
        condition("InvalidSpecError", "x", 1),
        condition("InvalidSpecError", "y", 9),
    ];
    check(&existing, &new, &["ComparisonError"], &expected);
}

#[test]
fn result_is_sorted_and_timeless_ones_get_a_time() {
    let existing = [Condition::new("SyncError", "s")];
    let expected = [condition("ComparisonError", "c", 9), condition("SyncError", "s", 9)];
    check(&existing, &[("ComparisonError", "c")], &["ComparisonError"], &expected);
}
