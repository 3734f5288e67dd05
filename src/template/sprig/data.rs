//! Defaults, lists and dictionaries.

use std::collections::BTreeMap;

use super::super::functions::Row;
use super::super::value::{Elem, Entries, MAX_NESTING, Value};
use super::{Answer, any, int, strval, text};

pub(super) const TABLE: &[Row] = &[
    ("default", "aa*", |_, v| Ok(if v.get(1).is_some_and(Value::truth) { any(&v, 1) } else { any(&v, 0) })),
    ("empty", "a", |_, v| Ok(Value::Bool(!any(&v, 0).truth()))),
    ("coalesce", "a*", |_, v| Ok(v.into_iter().find(Value::truth).unwrap_or(Value::Nil))),
    ("all", "a*", |_, v| Ok(Value::Bool(v.iter().all(Value::truth)))),
    ("any", "a*", |_, v| Ok(Value::Bool(v.iter().any(Value::truth)))),
    ("ternary", "aab", |_, v| Ok(any(&v, usize::from(!any(&v, 2).truth())))),
    ("list", "a*", |_, v| Ok(Value::list(v))),
    ("tuple", "a*", |_, v| Ok(Value::list(v))),
    ("first", "a", |_, v| Ok(items("first", &v, 0)?.first().cloned().unwrap_or(Value::Nil))),
    ("mustFirst", "a", |_, v| Ok(items("first", &v, 0)?.first().cloned().unwrap_or(Value::Nil))),
    ("last", "a", |_, v| Ok(items("last", &v, 0)?.last().cloned().unwrap_or(Value::Nil))),
    ("mustLast", "a", |_, v| Ok(items("last", &v, 0)?.last().cloned().unwrap_or(Value::Nil))),
    ("rest", "a", |_, v| Ok(Value::list(items("rest", &v, 0)?.into_iter().skip(1).collect()))),
    ("mustRest", "a", |_, v| Ok(Value::list(items("rest", &v, 0)?.into_iter().skip(1).collect()))),
    ("initial", "a", |_, v| initial(&v)),
    ("mustInitial", "a", |_, v| initial(&v)),
    ("append", "aa", |_, v| push(&v)),
    ("mustAppend", "aa", |_, v| push(&v)),
    ("push", "aa", |_, v| push(&v)),
    ("mustPush", "aa", |_, v| push(&v)),
    ("prepend", "aa", |_, v| prepend(&v)),
    ("mustPrepend", "aa", |_, v| prepend(&v)),
    ("reverse", "a", |_, v| Ok(Value::list(items("reverse", &v, 0)?.into_iter().rev().collect()))),
    ("mustReverse", "a", |_, v| Ok(Value::list(items("reverse", &v, 0)?.into_iter().rev().collect()))),
    ("compact", "a", |_, v| Ok(Value::list(items("compact", &v, 0)?.into_iter().filter(Value::truth).collect()))),
    ("mustCompact", "a", |_, v| Ok(Value::list(items("compact", &v, 0)?.into_iter().filter(Value::truth).collect()))),
    ("uniq", "a", |_, v| uniq(&v)),
    ("mustUniq", "a", |_, v| uniq(&v)),
    ("without", "aa*", |_, v| without(&v)),
    ("mustWithout", "aa*", |_, v| without(&v)),
    ("has", "aa", |_, v| has(&v)),
    ("mustHas", "aa", |_, v| has(&v)),
    ("slice", "aa*", |_, v| slice(&v)),
    ("mustSlice", "aa*", |_, v| slice(&v)),
    ("chunk", "ia", |_, v| chunk(&v)),
    ("mustChunk", "ia", |_, v| chunk(&v)),
    ("concat", "a*", |_, v| {
        let lists: Vec<Vec<Value>> = (0..v.len()).map(|at| items("concat", &v, at)).collect::<Result<_, _>>()?;
        Ok(Value::list(lists.concat()))
    }),
    ("dict", "a*", |_, v| {
        let pairs = v.chunks(2).map(|pair| (strval(&any(pair, 0)), pair.get(1).cloned().unwrap_or(Value::str(""))));
        Ok(Value::map(Elem::Any, pairs.collect()))
    }),
    ("get", "ms", |_, v| Ok(entries(&v, 0).borrow().get(text(&v, 1)).cloned().unwrap_or(Value::str("")))),
    ("set", "msa", |_, v| {
        entries(&v, 0).borrow_mut().insert(text(&v, 1).to_owned(), any(&v, 2));
        Ok(any(&v, 0))
    }),
    ("unset", "ms", |_, v| {
        entries(&v, 0).borrow_mut().remove(text(&v, 1));
        Ok(any(&v, 0))
    }),
    ("hasKey", "ms", |_, v| Ok(Value::Bool(entries(&v, 0).borrow().contains_key(text(&v, 1))))),
    ("pluck", "sm*", |_, v| {
        let found = |at| entries(&v, at).borrow().get(text(&v, 0)).cloned();
        Ok(Value::list((1..v.len()).filter_map(found).collect()))
    }),
    ("keys", "m*", |_, v| {
        let keys: Vec<String> =
            (0..v.len()).flat_map(|at| entries(&v, at).borrow().keys().cloned().collect::<Vec<_>>()).collect();
        Ok(Value::strings(keys))
    }),
    ("values", "m", |_, v| Ok(Value::list(entries(&v, 0).borrow().values().cloned().collect()))),
    ("pick", "ms*", |_, v| Ok(filtered(&v, true))),
    ("omit", "ms*", |_, v| Ok(filtered(&v, false))),
    ("merge", "mm*", |_, v| merge(&v, false)),
    ("mustMerge", "mm*", |_, v| merge(&v, false)),
    ("mergeOverwrite", "mm*", |_, v| merge(&v, true)),
    ("mustMergeOverwrite", "mm*", |_, v| merge(&v, true)),
    ("deepCopy", "a", |_, v| Ok(copy(&any(&v, 0), 0))),
    ("mustDeepCopy", "a", |_, v| Ok(copy(&any(&v, 0), 0))),
    ("dig", "a*", |_, v| dig(&v)),
];

fn chunk(values: &[Value]) -> Answer {
    let items = items("chunk", values, 1)?;
    let size = usize::try_from(int(values, 0)).ok().filter(|size| *size > 0);
    let size = size.ok_or("runtime error: makeslice: len out of range")?;
    Ok(Value::list(items.chunks(size).map(|part| Value::list(part.to_vec())).collect()))
}

fn items(name: &str, values: &[Value], at: usize) -> Result<Vec<Value>, String> {
    match values.get(at) {
        Some(Value::List(_, items)) => Ok(items.to_vec()),
        Some(other) if !other.is_nil() => Err(match name {
            "concat" => format!("Cannot concat type {} as list", other.kind()),
            "compact" => format!("Cannot compact on type {}", other.kind()),
            "chunk" => format!("Cannot chunk type {}", other.kind()),
            _ => format!("Cannot find {name} on type {}", other.kind()),
        }),
        _ => Err("runtime error: invalid memory address or nil pointer dereference".to_owned()),
    }
}

pub(super) fn entries(values: &[Value], at: usize) -> Entries {
    match values.get(at) {
        Some(Value::Map(_, entries)) => entries.clone(),
        _ => Entries::default(),
    }
}

fn initial(values: &[Value]) -> Answer {
    let mut list = items("initial", values, 0)?;
    list.pop();
    Ok(Value::list(list))
}

fn push(values: &[Value]) -> Answer {
    let Some(Value::List(_, list)) = values.first() else { return Err(cannot("push on", values, 0)) };
    let mut list = list.to_vec();
    list.push(any(values, 1));
    Ok(Value::list(list))
}

fn prepend(values: &[Value]) -> Answer {
    let Some(Value::List(_, list)) = values.first() else { return Err(cannot("prepend on", values, 0)) };
    let mut list = list.to_vec();
    list.insert(0, any(values, 1));
    Ok(Value::list(list))
}

fn cannot(what: &str, values: &[Value], at: usize) -> String {
    format!("Cannot {what} type {}", any(values, at).kind())
}

fn contains(list: &[Value], wanted: &Value) -> bool {
    list.iter().any(|item| item.deep_equal(wanted))
}

fn uniq(values: &[Value]) -> Answer {
    let mut found = Vec::new();
    for item in items("uniq", values, 0)? {
        if !contains(&found, &item) {
            found.push(item);
        }
    }
    Ok(Value::list(found))
}

fn without(values: &[Value]) -> Answer {
    let unwanted = values.get(1..).unwrap_or_default();
    Ok(Value::list(items("without", values, 0)?.into_iter().filter(|item| !contains(unwanted, item)).collect()))
}

fn has(values: &[Value]) -> Answer {
    if any(values, 1).is_nil() {
        return Ok(Value::Bool(false));
    }
    Ok(Value::Bool(contains(&items("has", values, 1)?, &any(values, 0))))
}

fn slice(values: &[Value]) -> Answer {
    let list = items("slice", values, 0)
        .map_err(|_| format!("list should be type of slice or array but {}", any(values, 0).kind()))?;
    if list.is_empty() {
        return Ok(Value::Nil);
    }
    let end = values.get(2).map_or(i64::try_from(list.len()).unwrap_or(i64::MAX), |_| int(values, 2));
    let bounds = usize::try_from(int(values, 1)).ok().zip(usize::try_from(end).ok());
    let part =
        bounds.and_then(|(from, to)| list.get(from..to)).ok_or("reflect.Value.Slice: slice index out of bounds")?;
    Ok(Value::list(part.to_vec()))
}

fn filtered(values: &[Value], keeps: bool) -> Value {
    let names: Vec<&str> = (1..values.len()).map(|at| text(values, at)).collect();
    let mut kept: BTreeMap<String, Value> = entries(values, 0).borrow().clone();
    kept.retain(|key, _| names.contains(&key.as_str()) == keeps);
    Value::map(Elem::Any, kept)
}

fn merge(values: &[Value], overwrites: bool) -> Answer {
    let target = entries(values, 0);
    for at in 1..values.len() {
        merge_into(&target, &entries(values, at), overwrites, 0);
    }
    Ok(any(values, 0))
}

fn merge_into(target: &Entries, source: &Entries, overwrites: bool, depth: usize) {
    if std::rc::Rc::ptr_eq(target, source) || depth > MAX_NESTING {
        return;
    }
    let source = source.borrow().clone();
    for (key, value) in source {
        let before = target.borrow().get(&key).cloned();
        match (&before, &value) {
            (Some(Value::Map(_, inner)), Value::Map(_, other)) => merge_into(inner, other, overwrites, depth + 1),
            (Some(before), _) if before.truth() && !(overwrites && value.truth()) => {}
            _ => drop(target.borrow_mut().insert(key, value)),
        }
    }
}

fn copy(value: &Value, depth: usize) -> Value {
    match value {
        _ if depth > MAX_NESTING => Value::Nil,
        Value::List(elem, items) => {
            Value::List(*elem, std::rc::Rc::new(items.iter().map(|item| copy(item, depth + 1)).collect()))
        }
        Value::Map(elem, entries) => {
            Value::map(*elem, entries.borrow().iter().map(|(key, item)| (key.clone(), copy(item, depth + 1))).collect())
        }
        other => other.clone(),
    }
}

fn dig(values: &[Value]) -> Answer {
    let [names @ .., default, Value::Map(_, root)] = values else {
        return Err(if values.len() < 3 {
            "dig needs at least three arguments".to_owned()
        } else {
            cannot("dig in", values, values.len() - 1)
        });
    };
    if names.is_empty() {
        return Err("dig needs at least three arguments".to_owned());
    }
    let mut at = root.clone();
    for (step, name) in names.iter().enumerate() {
        let found = at.borrow().get(&strval(name)).cloned();
        match found {
            None => return Ok(default.clone()),
            Some(value) if step + 1 == names.len() => return Ok(value),
            Some(Value::Map(_, inner)) => at = inner,
            Some(other) => {
                let got = if other.is_nil() { "nil" } else { other.type_name() };
                return Err(format!("interface conversion: interface {{}} is {got}, not map[string]interface {{}}"));
            }
        }
    }
    Ok(default.clone())
}
