//! The matrix generator: every set of the second child for every set of the first.
//!
//! In:  two children; the second's texts are rendered with each set of the first.
//! Out: both sets as one: the first wins with Go templates, else a key with two meanings is an error.
//! Source: SET-040 to SET-044 (`applicationset/generators/matrix.go`).

use serde_json::Value;

use super::super::params::{Params, combined, overlay};
use super::{Context, Gathered, Level, Stop, kinds, run};
use crate::api::appset::{Generator, MatrixGenerator, MergeGenerator, NestedGenerator};

/// The sets of parameters.
pub fn params(matrix: &MatrixGenerator, context: &Context, level: Level) -> Result<Vec<Params>, Stop> {
    let [first, second] = matrix.generators.as_slice() else {
        let amount = if matrix.generators.len() < 2 { "less" } else { "more" };
        return Err(Stop::Error(format!("found {amount} than two generators, Matrix support only two")));
    };
    let lefts = child(first, context, &Params::new(), level)
        .map_err(|stop| stop.within("error failed to get params for first generator in matrix generator: "))?;
    let mut joined = Gathered::default();
    for left in lefts {
        let rights = child(second, context, &left, level)
            .map_err(|stop| stop.within("failed to get params for second generator in the matrix generator: "));
        let join_all = |rights: Vec<Params>| -> Result<Vec<Params>, Stop> {
            rights.into_iter().map(|right| join(&left, right, context.engine.go)).collect()
        };
        joined.add(rights.and_then(join_all));
    }
    Ok(joined.finish()?.into_iter().flatten().collect())
}

fn join(left: &Params, right: Params, go: bool) -> Result<Params, Stop> {
    if go {
        let mut both = right;
        overlay(&mut both, left.clone());
        return Ok(both);
    }
    let before = "failed to combine string maps with merging params for the matrix generator";
    combined(left, &right).map_err(|error| Stop::Error(format!("{before}: {error}")))
}

/// The sets of a child of a matrix or merge: exactly one generator must stand there.
pub fn child(nested: &NestedGenerator, context: &Context, parent: &Params, level: Level) -> Result<Vec<Params>, Stop> {
    let entry = as_entry(nested, level).map_err(Stop::Error)?;
    let mut outcomes = run(&entry, context, parent, level)
        .map_err(|stop| stop.within("child generator returned an error on parameter generation: "))?;
    match kinds(&entry).len() {
        0 => Err(Stop::Error("child generator generated no parameters".to_owned())),
        1 => Ok(outcomes.pop().map(|outcome| outcome.params).unwrap_or_default()),
        _ => Err(Stop::Error("found more than one generator in matrix.Generators".to_owned())),
    }
}

/// A child as an entry. What the last level holds of combinations is not there for Argo CD either; templates of
/// children do not count.
pub fn as_entry(nested: &NestedGenerator, level: Level) -> Result<Generator, String> {
    let may_combine = level != Level::Terminal;
    let matrix = nested.matrix.as_ref().filter(|_| may_combine).map(generators).transpose()?;
    let merge = nested.merge.as_ref().filter(|_| may_combine).map(|raw| {
        let keys = raw.get("mergeKeys").cloned().unwrap_or_default();
        let merge_keys = serde_json::from_value::<Option<Vec<String>>>(keys).map_err(|error| error.to_string())?;
        Ok::<_, String>((generators(raw)?, merge_keys.unwrap_or_default()))
    });
    let merge = merge.transpose().map_err(|error| {
        format!("error retrieving merge generator: error converting to nested merge generator: {error}")
    })?;
    Ok(Generator {
        list: nested.list.clone(),
        clusters: nested.clusters.clone(),
        git: nested.git.clone(),
        scm_provider: nested.scm_provider.clone(),
        cluster_decision_resource: nested.cluster_decision_resource.clone(),
        pull_request: nested.pull_request.clone(),
        matrix: matrix.map(|generators| MatrixGenerator { generators, ..MatrixGenerator::default() }),
        merge: merge.map(|(generators, merge_keys)| MergeGenerator {
            generators,
            merge_keys,
            ..MergeGenerator::default()
        }),
        selector: nested.selector.clone(),
        plugin: nested.plugin.clone(),
    })
}

/// The children of a combination that is kept as JSON.
fn generators(raw: &Value) -> Result<Vec<NestedGenerator>, String> {
    let list = raw.get("generators").cloned().unwrap_or_default();
    let found = serde_json::from_value::<Option<Vec<NestedGenerator>>>(list).map_err(|error| error.to_string())?;
    let plain = |nested| NestedGenerator { matrix: None, merge: None, ..nested };
    Ok(found.unwrap_or_default().into_iter().map(plain).collect())
}
