//! The apps that are synced while something goes wrong, and what each of their syncs must leave.
//!
//! In:  nothing.  Out: names.
//! Invariant: what is listed here is what lies in `corpus/crash/NAME`; a sync that leaves less or more fails.

/// A kind and a name.
pub(super) type Named = (&'static str, &'static str);

/// An app with its syncs.
#[derive(Debug)]
pub(super) struct Scene {
    /// The app's name, and that of its folder in `corpus/crash`.
    pub name: &'static str,
    /// Where its objects are.
    pub namespace: &'static str,
    /// The hooks that every sync creates.
    pub hooks: &'static [Named],
    /// One sync after the other.
    pub stages: &'static [Stage],
}

/// One sync of a scene.
#[derive(Debug)]
pub(super) struct Stage {
    /// The folder that is committed before it; none where the case itself has done that.
    pub commit: Option<&'static str>,
    /// What it creates, besides the hooks.
    pub made: &'static [Named],
    /// What it applies that is there already.
    pub kept: &'static [Named],
    /// What it prunes.
    pub pruned: &'static [Named],
}

impl Stage {
    /// What is there after it, besides the hooks.
    pub(super) fn present(&self) -> impl Iterator<Item = &Named> {
        self.made.iter().chain(self.kept)
    }
}

/// What the name of a hook begins with whose rest is made up by whoever creates it.
pub(super) const GENERATED: &str = "again-";

/// What litecd itself runs as, to the app that manages it.
pub(super) const ITSELF: Named = ("Deployment", "litecd");

/// An app with litecd's own Deployment in the middle of three waves, and a commit that replaces it.
pub(super) const MANAGES_ITSELF: Scene = Scene {
    name: "manages-itself",
    namespace: "demo-itself",
    hooks: &[("Job", "before"), ("Job", "behind")],
    stages: &[
        Stage {
            commit: None,
            made: &[("ConfigMap", "settings"), ITSELF, ("ConfigMap", "after"), ("ConfigMap", "after-gone")],
            kept: &[],
            pruned: &[],
        },
        Stage {
            commit: Some("v2"),
            made: &[("ConfigMap", "after-new")],
            kept: &[("ConfigMap", "settings"), ITSELF, ("ConfigMap", "after")],
            pruned: &[("ConfigMap", "after-gone")],
        },
    ],
};

/// One sync of five waves.
pub(super) const FIVE_WAVES: Scene = Scene {
    name: "five-waves",
    namespace: "demo-crash",
    hooks: &[("Job", "before"), ("Job", "behind"), ("Job", GENERATED)],
    stages: &[Stage {
        commit: None,
        made: &[
            ("ConfigMap", "one"),
            ("Secret", "one"),
            ("ConfigMap", "two"),
            ("Deployment", "two"),
            ("ConfigMap", "three"),
            ("Service", "three"),
            ("ConfigMap", "four"),
            ("Deployment", "four"),
            ("ConfigMap", "five"),
            ("Role", "five"),
        ],
        kept: &[],
        pruned: &[],
    }],
};

/// A sync of everything, and one that changes, creates and prunes.  Its SyncFail hook never runs.
pub(super) const ALL_PHASES: Scene = Scene {
    name: "all-phases",
    namespace: "demo-phases",
    hooks: &[("Job", "before"), ("Job", "behind")],
    stages: &[
        Stage {
            commit: None,
            made: &[
                ("ConfigMap", "early"),
                ("ConfigMap", "early-gone"),
                ("Secret", "middle"),
                ("Deployment", "web"),
                ("ConfigMap", "late"),
                ("ConfigMap", "late-gone"),
            ],
            kept: &[],
            pruned: &[],
        },
        Stage {
            commit: Some("v2"),
            made: &[("ConfigMap", "late-new")],
            kept: &[("ConfigMap", "early"), ("Secret", "middle"), ("Deployment", "web"), ("ConfigMap", "late")],
            pruned: &[("ConfigMap", "early-gone"), ("ConfigMap", "late-gone")],
        },
    ],
};
