//! The environment variables of a student's program in a host box: the variables of the simulator,
//! without those that may hold secrets.

use std::collections::BTreeMap;

/// Parts of the name of a variable that is likely to hold a secret.
const SECRET_WORDS: [&str; 6] = ["TOKEN", "SECRET", "KEY", "PASSWORD", "PASSWD", "CREDENTIAL"];
/// Prefixes of the names of variables that the program does not get. Variables with the prefix
/// `AWS_` may hold secrets, and those with the prefix `CHICANE_` configure the simulator itself.
const SECRET_PREFIXES: [&str; 2] = ["AWS_", "CHICANE_"];

/// The environment of a program in a host box. `named` are variables that the program gets even if
/// they look like secrets. `more` are the variables that the session adds.
pub(crate) fn host_environment(named: &[String], more: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let own = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    without_secrets(own, named, more)
}

fn without_secrets(
    own: impl Iterator<Item = (String, String)>,
    named: &[String],
    more: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    own.filter(|(name, _)| named.contains(name) || !is_secret(name)).chain(more).collect()
}

/// Whether the name of a variable suggests that its value is a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
        || SECRET_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_kept_from_the_program_unless_they_are_named() {
        let names = [
            "PATH",
            "LANG",
            "HOME",
            "TERM",
            "PYTHONPATH",
            "LD_LIBRARY_PATH",
            "ROS_DOMAIN_ID",
            "GITHUB_TOKEN",
            "github_token",
            "AWS_PROFILE",
            "aws_region",
            "DB_PASSWORD",
            "PGPASSWD",
            "API_KEY",
            "KEYFILE",
            "MySecret",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "CHICANE_TOKEN",
            "CHICANE_JUDGE_ROOT",
            "COURSE_KEY",
        ];
        let own = names.iter().map(|name| ((*name).to_owned(), "value".to_owned()));
        let more = BTreeMap::from([("CHICANE_URL".to_owned(), "http://localhost:1".to_owned())]);
        let got = without_secrets(own, &["COURSE_KEY".to_owned()], more);
        let got: Vec<&str> = got.keys().map(String::as_str).collect();
        let expected = [
            "CHICANE_URL",
            "COURSE_KEY",
            "HOME",
            "LANG",
            "LD_LIBRARY_PATH",
            "PATH",
            "PYTHONPATH",
            "ROS_DOMAIN_ID",
            "TERM",
        ];
        assert_eq!(got, expected);
    }
}
