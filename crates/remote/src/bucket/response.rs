//! Classifies the responses of a bucket, and describes errors without repeating the server's text.
//!
//! A server reports an error with a status and a code in an XML body. The rest of the body may
//! repeat the request with its secrets, so only the code is shown.

use hyper::http::{HeaderMap, StatusCode};

/// What the client does with a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResponseAction {
    /// Pass the response on to `object_store`.
    PassOn,
    /// Send the request again, because the error may be temporary. Holds the error text.
    Retry(String),
    /// Fail, because the next response would be the same. Holds the error text.
    Fail(String),
}

pub(super) fn classify(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ResponseAction {
    let code = error_code(body);
    let suffix = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let status_text = || format!("the server responded with status {}{suffix}", status.as_u16());
    if status.is_success() || status == StatusCode::NOT_MODIFIED {
        return ResponseAction::PassOn;
    }
    if let Some(text) = code.and_then(|code| describe(code, headers)) {
        return ResponseAction::Fail(format!("{text}{suffix}"));
    }
    match status {
        // `object_store` handles these statuses: the object does not exist, exists already, or was
        // changed by another client.
        StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED => ResponseAction::PassOn,
        StatusCode::CONFLICT => ResponseAction::Retry(status_text()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ResponseAction::Fail(format!("{DENIED}{suffix}")),
        StatusCode::NOT_IMPLEMENTED => ResponseAction::Fail(format!("{NO_CONDITIONAL_WRITES}{suffix}")),
        StatusCode::INSUFFICIENT_STORAGE => ResponseAction::Fail(format!("{STORAGE_FULL}{suffix}")),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => ResponseAction::Retry(status_text()),
        status if status.is_redirection() => {
            ResponseAction::Fail(format!("{}{suffix}", other_region(headers)))
        }
        status if status.is_server_error() => ResponseAction::Retry(status_text()),
        _ => ResponseAction::Fail(status_text()),
    }
}

const DENIED: &str = "access is denied: the access key needs s3:GetObject and s3:PutObject on this bucket, and \
                      s3:ListBucket to list it";
const NO_CONDITIONAL_WRITES: &str =
    "the server does not support conditional writes (If-None-Match, If-Match), which publishing requires";
const STORAGE_FULL: &str = "the storage is full";

/// The error text for an error code. `None` if the code does not identify the cause.
fn describe(code: &str, headers: &HeaderMap) -> Option<String> {
    let text = match code {
        "NoSuchBucket" => "there is no such bucket",
        "InvalidBucketName" => "the server does not accept the name of the bucket",
        "InvalidAccessKeyId" => "AWS_ACCESS_KEY_ID is not known to the server",
        "SignatureDoesNotMatch" => "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID",
        "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => {
            "AWS_SESSION_TOKEN has expired or is wrong: get new credentials"
        }
        "RequestTimeTooSkewed" => "the clock of this machine is wrong",
        "AccessDenied" | "AllAccessDisabled" => DENIED,
        "NotImplemented" => NO_CONDITIONAL_WRITES,
        "QuotaExceeded" | "XMinioStorageFull" | "StorageFull" => STORAGE_FULL,
        "EntityTooLarge" => "the file is larger than the server accepts",
        "PermanentRedirect"
        | "TemporaryRedirect"
        | "AuthorizationHeaderMalformed"
        | "IllegalLocationConstraintException" => return Some(other_region(headers)),
        _ => return None,
    };
    Some(text.to_owned())
}

/// The error text if the bucket is in another region. The text names the region if a header of the
/// response names it.
fn other_region(headers: &HeaderMap) -> String {
    let region = headers.get("x-amz-bucket-region").and_then(|v| v.to_str().ok());
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    match region.filter(|r| !r.is_empty() && r.len() <= 40 && r.bytes().all(is_plain)) {
        Some(region) => format!("the bucket is in another region: set AWS_REGION={region}"),
        None => "the bucket is in another region or at another address: check AWS_REGION and AWS_ENDPOINT"
            .to_owned(),
    }
}

/// The error code in a response body. Only letters and digits are accepted, so that no other text
/// of the server is shown.
fn error_code(body: &[u8]) -> Option<&str> {
    let body = &body[..body.len().min(64 << 10)];
    let find = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).position(|w| w == text);
    let rest = &body[find(body, b"<Code>")? + "<Code>".len()..];
    let code = std::str::from_utf8(&rest[..find(rest, b"</Code>")?]).ok()?;
    let is_code = !code.is_empty() && code.len() <= 64 && code.bytes().all(|b| b.is_ascii_alphanumeric());
    is_code.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(status: u16, body: &str) -> ResponseAction {
        classify(StatusCode::from_u16(status).expect("a status"), &HeaderMap::new(), body.as_bytes())
    }

    fn body_with_code(code: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>Bearer sesame</Message>\
             <AWSAccessKeyId>sesame</AWSAccessKeyId><StringToSign>sesame</StringToSign></Error>"
        )
    }

    #[test]
    fn error_codes_are_described_without_secrets() {
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
            (507, "XMinioStorageFull", "storage is full"),
            (400, "OddRequest", "responded with status 400 (OddRequest)"),
            (400, "<b>odd</b>", "responded with status 400"),
            (418, "", "responded with status 418"),
        ] {
            let ResponseAction::Fail(text) = action(status, &body_with_code(code)) else {
                panic!("{status} {code}")
            };
            assert!(text.contains(word) && !text.contains("sesame") && !text.contains(['\n', '<']), "{text}");
        }
        for (status, code) in [(500, "InternalError"), (503, "SlowDown"), (429, ""), (408, ""), (409, "")] {
            let ResponseAction::Retry(text) = action(status, &body_with_code(code)) else {
                panic!("{status} {code}")
            };
            assert!(text.contains(&format!("status {status}")) && text.contains(code), "{text}");
        }
        for status in [200, 204, 304, 404, 412] {
            assert_eq!(action(status, ""), ResponseAction::PassOn, "{status}");
        }
        assert_eq!(action(404, &body_with_code("NoSuchKey")), ResponseAction::PassOn);
    }

    #[test]
    fn a_valid_region_of_the_response_is_shown() {
        for (region, shown) in [("eu-central-1", true), ("eu central", false), ("<x>", false), ("", false)] {
            let mut headers = HeaderMap::new();
            headers.insert("x-amz-bucket-region", region.parse().expect("a header"));
            let action = classify(StatusCode::MOVED_PERMANENTLY, &headers, b"");
            let ResponseAction::Fail(text) = action else { panic!("{action:?}") };
            assert_eq!(text.contains("AWS_REGION=eu-central-1"), shown, "{text}");
        }
    }

    #[test]
    fn bodies_without_a_valid_code_are_ignored() {
        for body in [&b""[..], b"<Code>", b"<Code></Code>", b"\xff<Code>\xff</Code>", b"</Code><Code>"] {
            assert_eq!(error_code(body), None, "{body:?}");
        }
        assert_eq!(error_code(b"\xff\xfe<Code>AccessDenied</Code>"), Some("AccessDenied"));
    }
}
