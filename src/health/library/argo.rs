//! Kinds of the Argo projects, Rollout apart.

use super::Kinds;
use super::rule::{Step::*, Test::*};
use crate::health::Code::{Degraded, Healthy, None, Progressing, Unknown};

pub(super) const KINDS: Kinds = &[
    (
        "argoproj.io/ApplicationSet",
        &[
            Walk(&[("ErrorOccurred=True", Degraded, "{message}")]),
            Walk(&[("ResourcesUpToDate=False", Degraded, "{message}")]),
            Walk(&[("RolloutProgressing=True", Progressing, "{message}")]),
            Walk(&[("ResourcesUpToDate=True", Healthy, "{message}")]),
            Else(Progressing, "Waiting for the status to be reported"),
        ],
    ),
    (
        "argoproj.io/AnalysisRun",
        &[
            When(
                &[Lacks("status")],
                Progressing,
                "Waiting for analysis run to finish: status has not been reconciled.",
            ),
            Match(
                "status.phase",
                &[
                    ("Pending|Running", Progressing, "Analysis run is running"),
                    ("Successful", Healthy, "{.status.message|Analysis run completed successfully}"),
                    ("Failed", Degraded, "{.status.message|Analysis run failed}"),
                    ("Error", Degraded, "{.status.message|Analysis run had an error}"),
                    ("Inconclusive", Unknown, "{.status.message|Analysis run was inconclusive}"),
                ],
            ),
            Else(None, ""),
        ],
    ),
    (
        "argoproj.io/Experiment",
        &[
            When(&[Lacks("status")], Progressing, "Waiting for experiment to finish: status has not been reconciled."),
            Match(
                "status.phase",
                &[
                    ("Pending", Progressing, "Experiment is pending"),
                    ("Running", Progressing, "Experiment is running"),
                    ("Successful", Healthy, "Experiment is successful"),
                    ("Failed", Degraded, "Experiment has failed"),
                    ("Error", Degraded, "Experiment had an error"),
                ],
            ),
            Else(None, ""),
        ],
    ),
    (
        "argoproj.io/CronWorkflow",
        &[
            Walk(&[
                ("SpecError=True", Degraded, "{message}"),
                ("SubmissionError=True", Degraded, "{message}"),
                ("Completed=True", Healthy, "{message}"),
            ]),
            Else(Healthy, "CronWorkflow is healthy."),
        ],
    ),
    (
        "argoproj.io/EventBus",
        &[
            Walk(&[("Deployed=False", Degraded, "{message|@reason}"), ("Deployed=True", Healthy, "{message|@reason}")]),
            Else(Progressing, "Waiting for initialization"),
        ],
    ),
];
