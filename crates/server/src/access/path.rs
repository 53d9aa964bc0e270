//! Refuses ambiguous paths. Such a path could lead to another file or handler than its text
//! suggests.

use crate::error::ApiError;

/// Refuses paths with `.` or `..` segments, backslashes, `#` or control characters. Percent-encoded
/// forms are refused too.
pub(super) fn check(path: &str) -> Result<(), ApiError> {
    let plain = decoded(path);
    let dots = plain.split(|&b| b == b'/').any(|segment| segment == b"." || segment == b"..");
    if dots || plain.iter().any(|&b| b < 0x20 || b == 0x7f || b == b'\\' || b == b'#') {
        return Err(ApiError::invalid(
            "the path must not contain . or .. segments, \\, # or control characters",
        ));
    }
    Ok(())
}

/// Decodes `%xx` repeatedly, up to four times, because a client may have encoded the path several
/// times.
fn decoded(path: &str) -> Vec<u8> {
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..4 {
        let next = decoded_once(&bytes);
        if next == bytes {
            break;
        }
        bytes = next;
    }
    bytes
}

fn decoded_once(bytes: &[u8]) -> Vec<u8> {
    let hex = |b: u8| (b as char).to_digit(16);
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        match rest {
            [b'%', a, b, after @ ..] if hex(*a).is_some() && hex(*b).is_some() => {
                out.push((hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0)) as u8);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_and_control_characters_are_refused() {
        for bad in [
            "/sim/../etc",
            "/sim/%2e%2e/x",
            "/sim/%2E./x",
            "/a/%252e%252e/b",
            "/a/..%2fb",
            "/a/.",
            "/a%5cb",
            "/a%00",
            "/a%23b",
            "/a%0d%0ab",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        for good in [
            "/",
            "/sim/api/models/box1/pose",
            "/a/..b",
            "/a/b.c",
            "/sim/api/models/a%20b/pose",
            "/a%zz",
            "/100%",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
    }
}
