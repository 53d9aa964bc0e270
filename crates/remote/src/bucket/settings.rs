//! Reads the settings of a bucket from environment variables, and checks them before the first use.

use super::BucketError;
use crate::web::HttpTarget;
use object_store::ClientConfigKey;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

/// Creates a builder from the `AWS_` variables of an environment. An empty variable counts as not
/// set.
pub(super) fn builder_from(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<AmazonS3Builder, BucketError> {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in environment {
        if name.starts_with("AWS_")
            && !value.is_empty()
            && let Ok(key) = name.to_ascii_lowercase().parse::<Key>()
        {
            builder = builder.with_config(key, value);
        }
    }
    check(&builder)?;
    Ok(builder)
}

fn check(builder: &AmazonS3Builder) -> Result<(), BucketError> {
    let value = |key: Key| builder.get_config_value(&key).filter(|v| !v.is_empty());
    let is_on = |key: Key| value(key).is_some_and(|v| is_yes(&v));

    for (key, name) in [
        (Key::AccessKeyId, "AWS_ACCESS_KEY_ID"),
        (Key::SecretAccessKey, "AWS_SECRET_ACCESS_KEY"),
        (Key::Token, "AWS_SESSION_TOKEN"),
        (Key::Region, "AWS_REGION"),
    ] {
        if value(key).is_some_and(|v| !v.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(BucketError::InvalidCharacter(name));
        }
    }
    let other_credentials = [
        Key::WebIdentityTokenFile,
        Key::ContainerCredentialsRelativeUri,
        Key::ContainerCredentialsFullUri,
        // Without any credentials, `object_store` would query Amazon's metadata service. Outside
        // Amazon's network, this query takes long before it fails. Therefore the query is allowed
        // only if the endpoint of the metadata service is set.
        Key::MetadataEndpoint,
    ];
    let (id, secret) = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    match (value(Key::AccessKeyId), value(Key::SecretAccessKey)) {
        (Some(_), None) => return Err(BucketError::HalfKey { set: id, missing: secret }),
        (None, Some(_)) => return Err(BucketError::HalfKey { set: secret, missing: id }),
        (None, None)
            if !is_on(Key::SkipSignature)
                && other_credentials.into_iter().all(|key| value(key).is_none()) =>
        {
            return Err(BucketError::NoCredentials);
        }
        _ => {}
    }
    match value(Key::S3Endpoint).or_else(|| value(Key::Endpoint)) {
        Some(endpoint) => check_endpoint(&endpoint, is_on(Key::Client(ClientConfigKey::AllowHttp))),
        None if value(Key::Region).is_none() => Err(BucketError::NoRegion),
        None => Ok(()),
    }
}

/// Whether the text of a setting means "on". `object_store` accepts the same texts.
pub(super) fn is_yes(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// Refuses an endpoint that is not a URL. Plain HTTP is accepted on this machine only, unless
/// `allow_http` is set.
fn check_endpoint(endpoint: &str, allow_http: bool) -> Result<(), BucketError> {
    let target = HttpTarget::parse(endpoint).ok().filter(|_| !endpoint.contains(['?', '#']));
    let target = target.ok_or(BucketError::Endpoint)?;
    if target.secure || allow_http || is_local(&target) {
        return Ok(());
    }
    Err(BucketError::NotEncrypted(target.authority))
}

/// Whether a target is on this machine.
pub(super) fn is_local(target: &HttpTarget) -> bool {
    let address = target.host.parse::<std::net::IpAddr>();
    target.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "sesame")];

    fn settings(variables: &[(&str, &str)]) -> Result<AmazonS3Builder, String> {
        let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        builder_from(variables).map_err(|e| e.to_string())
    }

    fn with_keys(variables: &[(&str, &str)]) -> Result<AmazonS3Builder, String> {
        settings(&[&KEYS, variables].concat())
    }

    #[test]
    fn missing_and_malformed_variables_are_named() {
        for (environment, word) in [
            (&[][..], "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            (&KEYS[..1], "AWS_SECRET_ACCESS_KEY is not"),
            (&KEYS[1..], "AWS_ACCESS_KEY_ID is not"),
            (&[("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")], "needs credentials"),
            (&KEYS, "AWS_REGION is not set"),
            (&[KEYS[0], KEYS[1], ("AWS_REGION", "")], "AWS_REGION is not set"),
            (&[("AWS_ACCESS_KEY_ID", "a\nb"), KEYS[1]], "AWS_ACCESS_KEY_ID contains"),
            (&[KEYS[0], ("AWS_SECRET_ACCESS_KEY", "open sesame")], "AWS_SECRET_ACCESS_KEY contains"),
            (&[KEYS[0], KEYS[1], ("AWS_REGION", "eu\r\nx")], "AWS_REGION contains"),
        ] {
            let refused = settings(environment).expect_err(word);
            assert!(refused.contains(word) && !refused.contains("sesame"), "{refused}");
        }
    }

    #[test]
    fn plain_http_requires_loopback_or_a_setting() {
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
        with_keys(&[lan, ("AWS_ALLOW_HTTP", "true")]).expect("allowed");
        for endpoint in
            ["minio:9000", "ftp://minio", "https://key:sesame@minio", "https://minio?x=y", "https://"]
        {
            let refused = with_keys(&[("AWS_ENDPOINT", endpoint)]).expect_err(endpoint);
            assert!(refused.contains("must be a URL") && !refused.contains("sesame"), "{refused}");
        }
    }

    #[test]
    fn other_sources_of_credentials_are_accepted() {
        let region = ("AWS_REGION", "eu-central-1");
        settings(&[region, ("AWS_SKIP_SIGNATURE", "true")]).expect("an open bucket");
        settings(&[region, ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x")]).expect("an Amazon container");
        settings(&[region, ("AWS_METADATA_ENDPOINT", "http://169.254.169.254")]).expect("an Amazon machine");
    }
}
