//! Where a bucket is and who asks: what the environment says, looked at before it is used.

use crate::web::Target;
use object_store::ClientConfigKey;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

/// The settings in an environment, if they can be used. What is empty counts as not there.
pub(super) fn checked(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<AmazonS3Builder, String> {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in environment {
        if name.starts_with("AWS_")
            && !value.is_empty()
            && let Ok(key) = name.to_ascii_lowercase().parse::<Key>()
        {
            builder = builder.with_config(key, value);
        }
    }
    let set = |key: Key| builder.get_config_value(&key).filter(|v| !v.is_empty());
    let is = |key: Key| set(key).is_some_and(|v| is_yes(&v));

    for (key, name) in [
        (Key::AccessKeyId, "AWS_ACCESS_KEY_ID"),
        (Key::SecretAccessKey, "AWS_SECRET_ACCESS_KEY"),
        (Key::Token, "AWS_SESSION_TOKEN"),
        (Key::Region, "AWS_REGION"),
    ] {
        if set(key).is_some_and(|v| !v.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(format!("{name} holds a space or another character that does not belong there"));
        }
    }
    let others = [
        Key::WebIdentityTokenFile,
        Key::ContainerCredentialsRelativeUri,
        Key::ContainerCredentialsFullUri,
        // Asking the machine itself takes long where it is none of Amazon's: only if that is said.
        Key::MetadataEndpoint,
    ];
    match (set(Key::AccessKeyId), set(Key::SecretAccessKey)) {
        (Some(_), None) => return Err(half("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
        (None, Some(_)) => return Err(half("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")),
        (None, None) if !is(Key::SkipSignature) && others.into_iter().all(|key| set(key).is_none()) => {
            return Err("a bucket needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and \
                        AWS_SESSION_TOKEN, where there is one)"
                .to_owned());
        }
        _ => {}
    }
    match set(Key::S3Endpoint).or_else(|| set(Key::Endpoint)) {
        Some(endpoint) => check_endpoint(&endpoint, is(Key::Client(ClientConfigKey::AllowHttp)))?,
        None if set(Key::Region).is_none() => {
            return Err(
                "AWS_REGION is not set: say where the bucket is, such as AWS_REGION=eu-central-1, or for \
                        another server than Amazon's AWS_ENDPOINT=https://HOST"
                    .to_owned(),
            );
        }
        None => {}
    }
    Ok(builder)
}

/// Whether a setting is on, in the words that `object_store` takes.
pub(super) fn is_yes(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

fn half(there: &str, missing: &str) -> String {
    format!("{there} is set and {missing} is not: both are needed")
}

/// An endpoint is a web server; without encryption only on this machine, or if that was asked for.
fn check_endpoint(endpoint: &str, plain: bool) -> Result<(), String> {
    let target = Target::parse(endpoint).ok().filter(|_| !endpoint.contains(['?', '#']));
    let Some(target) = target else {
        return Err("AWS_ENDPOINT must be an address such as https://minio.example.org:9000".to_owned());
    };
    if target.secure || plain || is_here(&target) {
        return Ok(());
    }
    Err(format!(
        "AWS_ENDPOINT=http://{} is not encrypted: use https://, or set AWS_ALLOW_HTTP=true if nobody else is on the \
         network",
        target.authority
    ))
}

/// Whether it is this machine that would be asked.
pub(super) fn is_here(target: &Target) -> bool {
    let address = target.host.parse::<std::net::IpAddr>();
    target.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "sesame")];

    fn check(more: &[(&str, &str)]) -> Result<AmazonS3Builder, String> {
        checked(more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())))
    }

    fn with_keys(more: &[(&str, &str)]) -> Result<AmazonS3Builder, String> {
        check(&[&KEYS, more].concat())
    }

    #[test]
    fn what_is_missing_is_said() {
        for (environment, word) in [
            (&[][..], "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            (&KEYS[..1], "AWS_SECRET_ACCESS_KEY is not"),
            (&KEYS[1..], "AWS_ACCESS_KEY_ID is not"),
            (&[("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")], "needs credentials"),
            (&KEYS, "AWS_REGION is not set"),
            (&[KEYS[0], KEYS[1], ("AWS_REGION", "")], "AWS_REGION is not set"),
            (&[("AWS_ACCESS_KEY_ID", "a\nb"), KEYS[1]], "AWS_ACCESS_KEY_ID holds"),
            (&[KEYS[0], ("AWS_SECRET_ACCESS_KEY", "open sesame")], "AWS_SECRET_ACCESS_KEY holds"),
            (&[KEYS[0], KEYS[1], ("AWS_REGION", "eu\r\nx")], "AWS_REGION holds"),
        ] {
            let refused = check(environment).expect_err(word);
            assert!(refused.contains(word) && !refused.contains("sesame"), "{refused}");
        }
    }

    #[test]
    fn endpoints_are_encrypted_or_near_or_wanted_so() {
        for endpoint in
            ["https://minio.example.org:9000", "http://127.0.0.1:9000", "http://localhost:1", "http://[::1]"]
        {
            with_keys(&[("AWS_ENDPOINT", endpoint)]).unwrap_or_else(|e| panic!("{endpoint}: {e}"));
        }
        let lan = ("AWS_ENDPOINT_URL", "http://minio:9000");
        let refused = with_keys(&[lan]).expect_err("not encrypted");
        assert!(
            refused.contains("http://minio:9000 is not encrypted") && refused.contains("AWS_ALLOW_HTTP"),
            "{refused}"
        );
        with_keys(&[lan, ("AWS_ALLOW_HTTP", "true")]).expect("wanted so");
        for endpoint in
            ["minio:9000", "ftp://minio", "https://key:sesame@minio", "https://minio?x=y", "https://"]
        {
            let refused = with_keys(&[("AWS_ENDPOINT", endpoint)]).expect_err(endpoint);
            assert!(refused.contains("must be an address") && !refused.contains("sesame"), "{refused}");
        }
    }

    #[test]
    fn credentials_may_come_from_elsewhere() {
        let region = ("AWS_REGION", "eu-central-1");
        check(&[region, ("AWS_SKIP_SIGNATURE", "true")]).expect("an open bucket");
        check(&[region, ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x")]).expect("a container of Amazon's");
        check(&[region, ("AWS_METADATA_ENDPOINT", "http://169.254.169.254")]).expect("a machine of Amazon's");
    }
}
