//! Errors in the address or the settings of a bucket.

/// Why a bucket can't be opened. No variant contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// The address contains credentials.
    #[error(
        "s3:// must not contain a user or a password: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead"
    )]
    CredentialsInAddress,
    /// The address has a query or a fragment.
    #[error("s3:// takes only a bucket and a folder: s3://BUCKET/FOLDER")]
    QueryInAddress,
    /// The address has no bucket.
    #[error("s3:// names no bucket: give s3://BUCKET or s3://BUCKET/FOLDER")]
    NoBucket,
    /// The text is not a valid bucket name.
    #[error(
        "\"{0}\" is not a bucket name: it has 3 to 63 characters of a-z, 0-9, - and ., and starts and ends with a \
         letter or digit"
    )]
    BucketName(String),
    /// The text is not a valid folder of a bucket.
    #[error("\"{0}\" is not a folder of a bucket: it has names of A-Z, a-z, 0-9, _, - and ., separated by /")]
    Folder(String),
    /// The named environment variable contains a space or a character that is not printable ASCII.
    #[error("{0} contains a space or another invalid character")]
    InvalidCharacter(&'static str),
    /// One half of the access key is missing.
    #[error("{set} is set and {missing} is not: both are needed")]
    HalfKey {
        /// Environment variable that is set.
        set: &'static str,
        /// Environment variable that is not set.
        missing: &'static str,
    },
    /// There are no credentials.
    #[error(
        "a bucket needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for \
         temporary credentials)"
    )]
    NoCredentials,
    /// Neither the region nor the endpoint of the bucket is set.
    #[error(
        "AWS_REGION is not set: set it to the region of the bucket, such as AWS_REGION=eu-central-1, or set \
         AWS_ENDPOINT=https://HOST for a server other than Amazon's"
    )]
    NoRegion,
    /// The endpoint is not a URL.
    #[error("AWS_ENDPOINT must be a URL such as https://minio.example.org:9000")]
    Endpoint,
    /// The endpoint would be used without TLS. Holds its host and port.
    #[error(
        "AWS_ENDPOINT=http://{0} is not encrypted: use https://, or set AWS_ALLOW_HTTP=true if the network is private"
    )]
    NotEncrypted(String),
    /// `object_store` rejects the settings. Holds its reason.
    #[error("the settings of the bucket are invalid: {0}")]
    Settings(String),
}
