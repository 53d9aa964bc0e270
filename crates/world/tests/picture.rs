//! Tests the check of picture files. The check reads the size of a picture, and refuses pictures
//! that are empty, too large or of an unknown format.

use chicane_world::picture::check;
use proptest::prelude::*;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(&width.to_be_bytes());
    bytes.extend_from_slice(&height.to_be_bytes());
    bytes.extend_from_slice(&[8, 2, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08".to_vec();
    bytes.extend_from_slice(&height.to_be_bytes());
    bytes.extend_from_slice(&width.to_be_bytes());
    bytes.extend_from_slice(&[3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    bytes
}

#[test]
fn the_size_of_every_format_is_read() {
    assert_eq!(check("a.png", &png(640, 480)), Ok((640, 480)));
    assert_eq!(check("a.png", &png(8192, 8192)), Ok((8192, 8192)));
    assert_eq!(check("a.png", &png(16384, 4096)), Ok((16384, 4096)));
    assert_eq!(check("a.jpg", &jpeg(31, 17)), Ok((31, 17)));
    assert_eq!(check("a.gif", b"GIF89a\x02\0\x03\0\0\0\0"), Ok((2, 3)));
}

#[test]
fn empty_large_and_unknown_pictures_are_refused() {
    let error = |bytes: &[u8]| check("t/a.png", bytes).expect_err("bad").to_string();
    assert!(error(&png(0, 5)).starts_with("t/a.png: the picture is empty: 0×5"));
    assert!(error(&png(8193, 8192)).contains("too large"));
    assert!(error(&png(16385, 1)).contains("too large"));
    assert!(error(&png(u32::MAX, u32::MAX)).contains("4294967295×4294967295 pixels is too large"));
    assert!(
        error(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
            .contains("unknown picture format; use PNG, JPEG, GIF, BMP, TGA or WebP")
    );
    assert!(error(b"").contains("header is incomplete or damaged"));
    assert!(error(&vec![0; (64 << 20) + 1]).contains("larger than 64 MiB"));
}

#[test]
fn a_picture_truncated_at_any_byte_does_not_panic() {
    for whole in [png(640, 480), jpeg(31, 17)] {
        for end in 0..whole.len() {
            let _ = check("a", &whole[..end]);
        }
    }
}

const STARTS: &[&[u8]] = &[
    b"",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF89a",
    b"BM",
    b"RIFF\0\0\0\0WEBPVP8 ",
    b"RIFF\0\0\0\0WEBPVP8L",
    b"RIFF\0\0\0\0WEBPVP8X",
    b"\0\0\x02\0\0\0\0\0",
];

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        start in proptest::sample::select(STARTS),
        rest in proptest::collection::vec(prop_oneof![Just(0xffu8), Just(0), Just(0xd8), any::<u8>()], 0..100),
    ) {
        let bytes = [start, &rest[..]].concat();
        if let Ok((w, h)) = check("a", &bytes) {
            prop_assert!(w > 0 && h > 0 && u64::from(w) * u64::from(h) <= 8192 * 8192);
        }
    }
}
