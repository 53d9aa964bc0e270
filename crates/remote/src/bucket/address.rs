//! The address of a bucket, `s3://BUCKET/FOLDER`.

use super::BucketError;

/// A bucket, and a folder in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BucketAddress {
    pub(super) bucket: String,
    /// The folder without a slash at either end. `None` for the whole bucket.
    pub(super) folder: Option<String>,
}

impl BucketAddress {
    pub(super) fn parse(address: &str) -> Result<BucketAddress, BucketError> {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        if rest.contains('@') {
            return Err(BucketError::CredentialsInAddress);
        }
        if rest.contains(['?', '#']) {
            return Err(BucketError::QueryInAddress);
        }
        let (bucket, folder) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(BucketError::NoBucket);
        }
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let ends_are_plain =
            bucket.bytes().next().is_some_and(is_plain) && bucket.bytes().next_back().is_some_and(is_plain);
        let all_are_allowed = bucket.bytes().all(|b| is_plain(b) || matches!(b, b'-' | b'.'));
        if !(3..=63).contains(&bucket.len()) || !ends_are_plain || !all_are_allowed || bucket.contains("..") {
            return Err(BucketError::BucketName(bucket.to_owned()));
        }
        let folder = folder.trim_end_matches('/');
        if folder.is_empty() {
            return Ok(BucketAddress { bucket: bucket.to_owned(), folder: None });
        }
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let is_name = |name: &str| !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_allowed);
        if folder.len() > 512 || !folder.split('/').all(is_name) {
            return Err(BucketError::Folder(folder.to_owned()));
        }
        Ok(BucketAddress { bucket: bucket.to_owned(), folder: Some(folder.to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split_into_bucket_and_folder() {
        let parse = |address: &str| BucketAddress::parse(address).map(|a| (a.bucket, a.folder));
        let parts = |bucket: &str, folder: Option<&str>| Ok((bucket.to_owned(), folder.map(str::to_owned)));
        assert_eq!(parse("s3://worlds"), parts("worlds", None));
        assert_eq!(parse("s3://worlds/"), parts("worlds", None));
        assert_eq!(parse("s3://my-worlds.2026/class/7b/"), parts("my-worlds.2026", Some("class/7b")));
        for (address, word) in [
            ("s3://", "names no bucket"),
            ("s3:///folder", "names no bucket"),
            ("s3://ab", "3 to 63"),
            ("s3://Worlds", "3 to 63"),
            ("s3://worlds:9000", "3 to 63"),
            ("s3://-worlds", "3 to 63"),
            ("s3://a..b", "3 to 63"),
            ("s3://worlds/../x", "folder of a bucket"),
            ("s3://worlds/a//b", "folder of a bucket"),
            ("s3://worlds/a b", "folder of a bucket"),
            ("s3://worlds?x=y", "only a bucket"),
        ] {
            let refused = parse(address).expect_err(address).to_string();
            assert!(refused.contains(word), "{address}: {refused}");
        }
        let refused = parse("s3://key:sesame@worlds").expect_err("a password").to_string();
        assert!(!refused.contains("sesame") && refused.contains("AWS_SECRET_ACCESS_KEY"), "{refused}");
    }
}
