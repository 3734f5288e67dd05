//! The table of features, and how a field or name finds its row.
//!
//! In:  a field's path (`Application.spec.project`, lists and map keys left out) or a name (`annotation:…`,
//!      `sync-option:…`, `argocd-cm:…`).
//! Out: the row that speaks of it.
//! Invariant: no two rows speak of the same field or name; a test holds every field of the CRDs against the table.
//! Source: the files beside, one per area.

mod application;
mod appset;
mod objects;
mod operation;
mod params;
mod project;
mod settings;
mod source;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Feature, Phase, Support};

/// A feature and where it is asked for.
///
/// A field's address is its dotted path; `.**` at its end takes the field with everything below. Addresses of names
/// have a colon; `*` at their end takes any rest.
#[derive(Debug)]
pub struct Row {
    /// The feature.
    pub feature: Feature,
    /// The fields and names that belong to it.
    pub addresses: &'static [&'static str],
}

/// Speaks of whatever the table does not know.
pub static UNKNOWN: Row = Row {
    feature: Feature {
        id: "unknown",
        name: "unknown",
        description: "Something that Argo CD v3.5.1 does not define.",
        support: Support::No(
            "Argo CD v3.5.1 does not define it, so nothing can act on it; look for a spelling mistake",
        ),
        phase: Phase::Configure,
    },
    addresses: &[],
};

/// Declares rows: phase, id, support, addresses, name, description.
macro_rules! features {
    ($( $phase:ident $id:literal $support:expr, [$( $address:literal ),* $(,)?], $name:literal, $description:literal; )*) => {
        &[ $( $crate::check::table::Row {
            feature: $crate::check::Feature {
                id: $id,
                name: $name,
                description: $description,
                support: $support,
                phase: $crate::check::Phase::$phase,
            },
            addresses: &[ $( $address ),* ],
        }, )* ]
    };
}
use features;

/// The same shape at several places: below the first path stands what is below the second.
const SAME_SHAPE: [(&str, &str); 6] = [
    ("Application.spec.source", "Source"),
    ("Application.spec.sources", "Source"),
    ("ApplicationSet.spec.template.spec", "Application.spec"),
    ("ApplicationSet.spec.generators", "Generator"),
    ("Generator.matrix.generators", "Generator"),
    ("Generator.merge.generators", "Generator"),
];

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let areas: [&'static [Row]; 8] = [
        application::ROWS,
        source::ROWS,
        operation::ROWS,
        project::ROWS,
        appset::ROWS,
        objects::ROWS,
        settings::ROWS,
        params::ROWS,
    ];
    areas.into_iter().flatten()
}

/// A field in the tree of all fields.
#[derive(Default)]
pub struct Branch {
    row: Option<&'static Row>,
    with_everything_below: bool,
    same_as: Option<&'static str>,
    children: BTreeMap<&'static str, Branch>,
}

impl Branch {
    /// The row that speaks of the field itself.
    pub fn row(&self) -> Option<&'static Row> {
        self.row
    }

    /// A field below.
    pub fn child(&self, name: &str) -> Option<&Branch> {
        self.children.get(name)
    }

    /// Whether the row speaks of everything below, too.
    pub fn is_whole(&self) -> bool {
        self.with_everything_below || (self.children.is_empty() && self.same_as.is_none())
    }

    /// Where the fields below stand: here, or at another place of the same shape.
    pub fn inner(&'static self) -> &'static Branch {
        self.same_as.and_then(|path| FIELDS.descend(path)).unwrap_or(self)
    }

    fn descend(&self, path: &str) -> Option<&Branch> {
        path.split('.').try_fold(self, |branch, name| branch.child(name))
    }

    fn make(&mut self, path: &'static str) -> &mut Branch {
        path.split('.').fold(self, |branch, name| branch.children.entry(name).or_default())
    }
}

static FIELDS: LazyLock<Branch> = LazyLock::new(|| {
    let mut root = Branch::default();
    for (path, same_as) in SAME_SHAPE {
        root.make(path).same_as = Some(same_as);
    }
    for row in rows() {
        for address in row.addresses.iter().filter(|address| !address.contains(':')) {
            let path = address.strip_suffix(".**");
            let branch = root.make(path.unwrap_or(address));
            branch.row = Some(row);
            branch.with_everything_below = path.is_some();
        }
    }
    root
});

/// Rows by exact name, and by the beginning of a name.
struct Names {
    exact: BTreeMap<&'static str, &'static Row>,
    beginnings: Vec<(&'static str, &'static Row)>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names { exact: BTreeMap::new(), beginnings: Vec::new() };
    for row in rows() {
        for address in row.addresses.iter().filter(|address| address.contains(':')) {
            match address.strip_suffix('*') {
                Some(beginning) => names.beginnings.push((beginning, row)),
                None => {
                    names.exact.insert(address, row);
                }
            }
        }
    }
    names
});

/// The fields of a kind; `None` when it is none of the three.
pub fn field_root(kind: &str) -> Option<&'static Branch> {
    match kind {
        "Application" | "AppProject" | "ApplicationSet" => FIELDS.child(kind),
        _ => None,
    }
}

/// The rows that speak of a field, given as `Kind.path.to.field`; exactly one for every leaf of the CRDs.
pub fn rows_for_field(path: &str) -> Vec<&'static Row> {
    let mut branch: &'static Branch = &FIELDS;
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        match branch.inner().child(name) {
            None => return Vec::new(),
            Some(child) if child.with_everything_below => return child.row.into_iter().collect(),
            Some(child) if names.peek().is_none() => return child.row.into_iter().collect(),
            Some(child) => branch = child,
        }
    }
    Vec::new()
}

/// The rows that speak of a name such as `annotation:argocd.argoproj.io/hook`; exactly one for every name Argo CD has.
pub fn rows_for_name(name: &str) -> Vec<&'static Row> {
    let begins = NAMES.beginnings.iter().filter(|(beginning, _)| name.starts_with(beginning)).map(|(_, row)| *row);
    NAMES.exact.get(name).copied().into_iter().chain(begins).collect()
}
