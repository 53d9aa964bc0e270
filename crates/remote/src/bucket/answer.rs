//! What an answer of a bucket means, in words that help.
//!
//! A server says what is wrong by a status and a code inside of XML. Beside the code it may repeat what
//! it was sent; that is never shown.

use hyper::http::{HeaderMap, StatusCode};

/// What to do with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is for whoever asked.
    Answer,
    /// It may be different in a moment.
    Later(String),
    /// It will be the same.
    Never(String),
}

pub(super) fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Verdict {
    let code = code(body);
    let named = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let plain = || format!("it answered {}{named}", status.as_u16());
    if status.is_success() || status == StatusCode::NOT_MODIFIED {
        return Verdict::Answer;
    }
    if let Some(words) = code.and_then(|code| words(code, headers)) {
        return Verdict::Never(format!("{words}{named}"));
    }
    match status {
        // It is not there; it is there already; somebody was faster.
        StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED => Verdict::Answer,
        StatusCode::CONFLICT => Verdict::Later(plain()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Verdict::Never(format!("{DENIED}{named}")),
        StatusCode::NOT_IMPLEMENTED => Verdict::Never(format!("{NO_CONDITIONS}{named}")),
        StatusCode::INSUFFICIENT_STORAGE => Verdict::Never(format!("{FULL}{named}")),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Verdict::Later(plain()),
        status if status.is_redirection() => Verdict::Never(format!("{}{named}", elsewhere(headers))),
        status if status.is_server_error() => Verdict::Later(plain()),
        _ => Verdict::Never(plain()),
    }
}

const DENIED: &str = "access is denied: the access key needs s3:GetObject and s3:PutObject on this bucket, and \
                      s3:ListBucket to list it";
const NO_CONDITIONS: &str = "the server can't write on a condition (If-None-Match, If-Match), without which a published world is not safe";
const FULL: &str = "there is no room left";

/// What is wrong, for codes that say it clearly.
fn words(code: &str, headers: &HeaderMap) -> Option<String> {
    let words = match code {
        "NoSuchBucket" => "there is no such bucket",
        "InvalidBucketName" => "that is no name of a bucket there",
        "InvalidAccessKeyId" => "AWS_ACCESS_KEY_ID is not known there",
        "SignatureDoesNotMatch" => "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID",
        "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => {
            "AWS_SESSION_TOKEN has expired or is wrong: get new credentials"
        }
        "RequestTimeTooSkewed" => "the clock of this machine is wrong",
        "AccessDenied" | "AllAccessDisabled" => DENIED,
        "NotImplemented" => NO_CONDITIONS,
        "QuotaExceeded" | "XMinioStorageFull" | "StorageFull" => FULL,
        "EntityTooLarge" => "the file is larger than the server takes",
        "PermanentRedirect"
        | "TemporaryRedirect"
        | "AuthorizationHeaderMalformed"
        | "IllegalLocationConstraintException" => return Some(elsewhere(headers)),
        _ => return None,
    };
    Some(words.to_owned())
}

/// The bucket is in another region, which the answer may name.
fn elsewhere(headers: &HeaderMap) -> String {
    let region = headers.get("x-amz-bucket-region").and_then(|v| v.to_str().ok());
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    match region.filter(|r| !r.is_empty() && r.len() <= 40 && r.bytes().all(plain)) {
        Some(region) => format!("the bucket is in another region: set AWS_REGION={region}"),
        None => "the bucket is in another region or at another address: see AWS_REGION and AWS_ENDPOINT"
            .to_owned(),
    }
}

/// The code inside of an answer: letters and digits and nothing else.
fn code(body: &[u8]) -> Option<&str> {
    let body = &body[..body.len().min(64 << 10)];
    let find = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).position(|w| w == word);
    let rest = &body[find(body, b"<Code>")? + "<Code>".len()..];
    let code = std::str::from_utf8(&rest[..find(rest, b"</Code>")?]).ok()?;
    let fits = !code.is_empty() && code.len() <= 64 && code.bytes().all(|b| b.is_ascii_alphanumeric());
    fits.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(status: u16, body: &str) -> Verdict {
        judge(StatusCode::from_u16(status).expect("a status"), &HeaderMap::new(), body.as_bytes())
    }

    fn coded(code: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>Bearer sesame</Message>\
             <AWSAccessKeyId>sesame</AWSAccessKeyId><StringToSign>sesame</StringToSign></Error>"
        )
    }

    #[test]
    fn every_trouble_has_its_words_and_no_secret_is_repeated() {
        for (status, code, word) in [
            (403, "InvalidAccessKeyId", "AWS_ACCESS_KEY_ID is not known"),
            (403, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY does not belong"),
            (403, "AccessDenied", "s3:PutObject"),
            (403, "SomethingNew", "access is denied"),
            (400, "ExpiredToken", "AWS_SESSION_TOKEN has expired"),
            (403, "RequestTimeTooSkewed", "clock"),
            (404, "NoSuchBucket", "no such bucket"),
            (301, "PermanentRedirect", "AWS_REGION"),
            (307, "", "AWS_REGION"),
            (501, "", "If-None-Match"),
            (507, "XMinioStorageFull", "no room"),
            (400, "OddRequest", "it answered 400 (OddRequest)"),
            (400, "<b>odd</b>", "it answered 400"),
            (418, "", "it answered 418"),
        ] {
            let Verdict::Never(words) = says(status, &coded(code)) else { panic!("{status} {code}") };
            assert!(
                words.contains(word) && !words.contains("sesame") && !words.contains(['\n', '<']),
                "{words}"
            );
        }
        for (status, code) in [(500, "InternalError"), (503, "SlowDown"), (429, ""), (408, ""), (409, "")] {
            let Verdict::Later(words) = says(status, &coded(code)) else { panic!("{status} {code}") };
            assert!(words.starts_with(&format!("it answered {status}")) && words.contains(code), "{words}");
        }
        for status in [200, 204, 304, 404, 412] {
            assert_eq!(says(status, ""), Verdict::Answer, "{status}");
        }
        assert_eq!(says(404, &coded("NoSuchKey")), Verdict::Answer);
    }

    #[test]
    fn the_region_is_taken_from_the_answer_if_it_is_one() {
        for (region, shown) in [("eu-central-1", true), ("eu central", false), ("<x>", false), ("", false)] {
            let mut headers = HeaderMap::new();
            headers.insert("x-amz-bucket-region", region.parse().expect("a header"));
            let verdict = judge(StatusCode::MOVED_PERMANENTLY, &headers, b"");
            let Verdict::Never(words) = verdict else { panic!("{verdict:?}") };
            assert_eq!(words.contains("AWS_REGION=eu-central-1"), shown, "{words}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_no_trouble() {
        for body in [&b""[..], b"<Code>", b"<Code></Code>", b"\xff<Code>\xff</Code>", b"</Code><Code>"] {
            assert_eq!(code(body), None, "{body:?}");
        }
        assert_eq!(code(b"\xff\xfe<Code>AccessDenied</Code>"), Some("AccessDenied"));
    }
}
