//! Flags of Argo CD's application controller that change what a comparison finds: for the controller, and for the
//! commands that compare as it does.

/// How objects are compared. Each flag overrides its key in `argocd-cmd-params-cm`.
#[derive(Clone, clap::Args)]
#[group(id = "verdicts")]
#[command(next_help_heading = "Comparing")]
pub struct Flags {
    /// true asks the API server what an apply would lead to, for every Application that does not say otherwise
    /// [default: false].
    #[arg(
        long,
        env = "ARGOCD_APPLICATION_CONTROLLER_SERVER_SIDE_DIFF",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    server_side_diff_enabled: Option<String>,
    /// Longest evaluation of one jq expression of an ignore rule [default: 1s].
    #[arg(long, env = "ARGOCD_IGNORE_NORMALIZER_JQ_TIMEOUT", value_name = "DURATION")]
    ignore_normalizer_jq_execution_timeout_seconds: Option<String>,
}

impl Flags {
    /// Name and value of each flag, given or not.
    pub fn all(self) -> [(&'static str, Option<String>); 2] {
        [
            ("server-side-diff-enabled", self.server_side_diff_enabled),
            ("ignore-normalizer-jq-execution-timeout-seconds", self.ignore_normalizer_jq_execution_timeout_seconds),
        ]
    }

    /// Name and value of each flag that was given. An empty variable is no value, as everywhere in Argo CD.
    pub fn given(self) -> Vec<(String, String)> {
        let is_given =
            |(flag, value): (&str, Option<String>)| Some((flag.to_owned(), value.filter(|text| !text.is_empty())?));
        self.all().into_iter().filter_map(is_given).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Flags;
    use crate::settings::Parameters;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn parameters(line: &[&str]) -> Parameters {
        let given = Line::parse_from([&["litecd"], line].concat()).flags.given();
        let mut parameters = Parameters::from_config_map(&Default::default()).0;
        for (flag, value) in given {
            parameters.set_flag(&flag, &value).expect("a flag that is known");
        }
        parameters
    }

    #[test]
    fn flags_are_written_as_argo_cd_s() {
        assert!(!parameters(&[]).server_side_diff);
        assert!(parameters(&["--server-side-diff-enabled"]).server_side_diff);
        assert!(!parameters(&["--server-side-diff-enabled=false"]).server_side_diff);
        let slow = parameters(&["--ignore-normalizer-jq-execution-timeout-seconds", "3s"]);
        assert_eq!(slow.jq_timeout, jiff::SignedDuration::from_secs(3));
    }
}
