//! Red Hat 3scale.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, Test::*, conditions, is_match};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended};
use crate::health::Health;
use crate::health::read::{at, int, text};

pub(super) const KINDS: Kinds = &[
    (
        "apps.3scale.net/APIManager",
        &[
            When(
                &[
                    Has("status.deployments.ready"),
                    Lacks("status.deployments.starting"),
                    Lacks("status.deployments.stopped"),
                ],
                Healthy,
                "3scale APIManager is available",
            ),
            Walk(&[
                ("Available=True", Healthy, "3scale APIManager is available"),
                ("Available=*/!", Degraded, "3scale APIManager is degraded: {reason}"),
            ]),
            Else(Progressing, "Waiting for 3scale APIManager status..."),
        ],
    ),
    (
        "capabilities.3scale.net/ActiveDoc",
        &[
            Walk(&[
                ("Ready=True", Healthy, "3scale ActiveDoc is ready"),
                ("Invalid=True", Degraded, "{message|3scale ActiveDoc configuration is invalid}"),
                ("Orphan=True", Degraded, "{message|3scale ActiveDoc references non-existing resources}"),
                ("Failed=True", Degraded, "{message|3scale ActiveDoc synchronization failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale ActiveDoc status..."),
        ],
    ),
    (
        "capabilities.3scale.net/Application",
        &[
            When(&[Is("status.state", "suspended")], Suspended, "3scale Application is suspended"),
            By(application),
            Else(Progressing, "Waiting for 3scale Application status..."),
        ],
    ),
    (
        "capabilities.3scale.net/ApplicationAuth",
        &[
            Walk(&[
                ("Ready=True", Healthy, "3scale ApplicationAuth is ready"),
                ("Failed=True", Degraded, "{message|3scale ApplicationAuth failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale ApplicationAuth status..."),
        ],
    ),
    (
        "capabilities.3scale.net/Backend",
        &[
            Walk(&[
                ("Synced=True", Healthy, "3scale Backend is synced"),
                ("Invalid=True", Degraded, "{message|3scale Backend configuration is invalid}"),
                ("Failed=True", Degraded, "{message|3scale Backend synchronization failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale Backend status..."),
        ],
    ),
    (
        "capabilities.3scale.net/CustomPolicyDefinition",
        &[
            Walk(&[
                ("Ready=True", Healthy, "3scale CustomPolicyDefinition is ready"),
                ("Invalid=True", Degraded, "{message|3scale CustomPolicyDefinition configuration is invalid}"),
                ("Failed=True", Degraded, "{message|3scale CustomPolicyDefinition synchronization failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale CustomPolicyDefinition status..."),
        ],
    ),
    (
        "capabilities.3scale.net/DeveloperAccount",
        &[
            Walk(&[
                ("Ready=True", Healthy, "3scale DeveloperAccount is ready"),
                ("Invalid=True", Degraded, "{message|3scale DeveloperAccount configuration is invalid}"),
                ("Failed=True", Degraded, "{message|3scale DeveloperAccount synchronization failed}"),
                ("Waiting=True", Suspended, "{message|3scale DeveloperAccount is waiting for approval}"),
            ]),
            Else(Progressing, "Waiting for 3scale DeveloperAccount status..."),
        ],
    ),
    (
        "capabilities.3scale.net/DeveloperUser",
        &[
            When(
                &[Is("status.developerUserState", "suspended")],
                Suspended,
                "3scale Developer user is waiting for admin approval",
            ),
            Walk(&[
                ("Ready=True", Healthy, "3scale DeveloperUser is ready"),
                ("Invalid=True", Degraded, "{message|3scale DeveloperUser configuration is invalid}"),
                ("Orphan=True", Degraded, "{message|3scale DeveloperUser references non-existing resources}"),
                ("Failed=True", Degraded, "{message|3scale DeveloperUser synchronization failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale DeveloperUser status..."),
        ],
    ),
    (
        "capabilities.3scale.net/OpenAPI",
        &[
            Walk(&[
                ("Ready=True", Healthy, "3scale OpenAPI is ready"),
                ("Invalid=True", Degraded, "{message|3scale OpenAPI configuration is invalid}"),
                ("Failed=True", Degraded, "{message|3scale OpenAPI reconciliation failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale OpenAPI status..."),
        ],
    ),
    (
        "capabilities.3scale.net/Product",
        &[
            Walk(&[
                ("Synced=True", Healthy, "3scale Product is synced"),
                ("Invalid=True", Degraded, "{message|3scale Product configuration is invalid}"),
                ("Orphan=True", Degraded, "{message|3scale Product references non-existing resources}"),
                ("Failed=True", Degraded, "{message|3scale Product synchronization failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale Product status..."),
        ],
    ),
    (
        "capabilities.3scale.net/ProxyConfigPromote",
        &[
            Walk(&[
                ("Ready=True", Healthy, "3scale ProxyConfigPromote is ready"),
                ("In-progress=True", Progressing, "{message|3scale ProxyConfigPromote is in progress}"),
                // The missing letter is Argo CD's.
                ("Failed=True", Degraded, "{message|3cale ProxyConfigPromote failed}"),
            ]),
            Else(Progressing, "Waiting for 3scale ProxyConfigPromote status..."),
        ],
    ),
    (
        "capabilities.3scale.net/Tenant",
        &[
            By(tenant),
            Walk(&[("Ready=!True", Degraded, "{message|3scale Tenant is degraded}")]),
            Else(Progressing, "Waiting for 3scale Tenant status..."),
        ],
    ),
];

/// An application that once got its id is not in trouble when it is not ready.
fn application(object: &Value) -> Option<Health> {
    let has_id = int(object, "status.adminId") > 0;
    conditions(object).iter().filter(|condition| text(condition, "type") == "Ready").find_map(|ready| {
        if is_match("Ready=True", ready) {
            Some(Health::new(Healthy, "3scale Application is ready"))
        } else if !has_id {
            let message = at(ready, "message").as_str().unwrap_or("3scale Application is not ready");
            Some(Health::new(Degraded, message))
        } else {
            None
        }
    })
}

fn tenant(object: &Value) -> Option<Health> {
    let has_ids = int(object, "status.tenantId") > 0 && int(object, "status.adminId") > 0;
    let is_ready = conditions(object).iter().any(|condition| is_match("Ready=True", condition));
    (has_ids && is_ready).then(|| Health::new(Healthy, "3scale Tenant is ready"))
}
