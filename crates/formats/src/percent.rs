//! Percent escapes of URIs.

/// Decodes the percent escapes of a URI. Invalid escapes are kept. Returns `text` unchanged if the
/// result is not UTF-8.
pub fn percent_decoded(text: &str) -> String {
    let hex = |digit: u8| (digit as char).to_digit(16).map(|d| d as u8);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)).map(|(h, l)| h << 4 | l),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[3..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_percent_escapes_are_kept() {
        for text in ["100%", "%zz%2", "%+f", "%ff"] {
            assert_eq!(percent_decoded(text), text);
        }
        assert_eq!(percent_decoded("a%2Fb%c3%A9"), "a/bé");
    }
}
