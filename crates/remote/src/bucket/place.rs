//! Which bucket, and which folder of it.

/// `s3://BUCKET/FOLDER`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) bucket: String,
    pub(super) folder: Option<String>,
}

impl Place {
    pub(super) fn parse(address: &str) -> Result<Place, String> {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        // Whatever it is, it may be a secret, and is not repeated.
        if rest.contains('@') {
            return Err("s3:// must not hold a user or a password: keys come from AWS_ACCESS_KEY_ID and \
                        AWS_SECRET_ACCESS_KEY"
                .to_owned());
        }
        if rest.contains(['?', '#']) {
            return Err("s3:// takes a bucket and a folder and nothing else: s3://BUCKET/FOLDER".to_owned());
        }
        let (bucket, folder) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err("s3:// names no bucket: give s3://BUCKET or s3://BUCKET/FOLDER".to_owned());
        }
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let ends = bucket.bytes().next().is_some_and(plain) && bucket.bytes().next_back().is_some_and(plain);
        let inside = bucket.bytes().all(|b| plain(b) || matches!(b, b'-' | b'.'));
        if !(3..=63).contains(&bucket.len()) || !ends || !inside || bucket.contains("..") {
            return Err(
                "the name of a bucket is 3 to 63 of a-z, 0-9, - and ., with a letter or digit at both ends"
                    .to_owned(),
            );
        }
        let folder = folder.trim_end_matches('/');
        if folder.is_empty() {
            return Ok(Place { bucket: bucket.to_owned(), folder: None });
        }
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let usable = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(fits);
        if folder.len() > 512 || !folder.split('/').all(usable) {
            return Err(
                "the folder of a bucket is made of A-Z, a-z, 0-9, _, - and ., with / between".to_owned()
            );
        }
        Ok(Place { bucket: bucket.to_owned(), folder: Some(folder.to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let place = |address: &str| Place::parse(address).map(|p| (p.bucket, p.folder));
        let of = |bucket: &str, folder: Option<&str>| Ok((bucket.to_owned(), folder.map(str::to_owned)));
        assert_eq!(place("s3://worlds"), of("worlds", None));
        assert_eq!(place("s3://worlds/"), of("worlds", None));
        assert_eq!(place("s3://my-worlds.2026/class/7b/"), of("my-worlds.2026", Some("class/7b")));
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
            ("s3://worlds?x=y", "nothing else"),
        ] {
            let refused = place(address).expect_err(address);
            assert!(refused.contains(word), "{address}: {refused}");
        }
        let refused = place("s3://key:sesame@worlds").expect_err("a password");
        assert!(!refused.contains("sesame") && refused.contains("AWS_SECRET_ACCESS_KEY"), "{refused}");
    }
}
