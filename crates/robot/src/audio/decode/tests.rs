//! Tests with valid, truncated, damaged and malicious files of every format.

use super::crc::CRC_32;
use super::*;
use chicane_testkit::sounds::{
    BEEP_FLAC, BEEP_MP3, BEEP_OGG, Block, CHORD_FLAC, CHORD_OGG, chunk, flac, mp3, wav, wav_of,
};
use proptest::prelude::*;

fn decode(file: &[u8], declared: Option<Format>) -> Result<Clip, DecodeError> {
    decode_while(file, declared, &|| true)
}

fn clip(format: Format, sample_rate: u32, channels: u16, frames: u64) -> Result<Clip, DecodeError> {
    Ok(Clip { format, sample_rate, channels, frames })
}

/// At least one file of each format.
fn files() -> [(Format, Vec<u8>); 8] {
    let blocks = [Block::Constant(4096, 7), Block::Verbatim((0..500).collect())];
    [
        (Format::Wav, wav(8000, 2, 300)),
        (Format::Mp3, mp3(6)),
        (Format::Mp3, BEEP_MP3.to_vec()),
        (Format::Ogg, BEEP_OGG.to_vec()),
        (Format::Flac, flac(22_050, 4596, &blocks)),
        (Format::Flac, BEEP_FLAC.to_vec()),
        (Format::Ogg, CHORD_OGG.to_vec()),
        (Format::Flac, CHORD_FLAC.to_vec()),
    ]
}

#[test]
fn every_format_is_detected_and_decoded_completely() {
    let want = [
        clip(Format::Wav, 8000, 2, 300),
        clip(Format::Mp3, 44_100, 2, 6 * 1152),
        clip(Format::Mp3, 16_000, 1, 4000),
        clip(Format::Ogg, 16_000, 1, 4000),
        clip(Format::Flac, 22_050, 1, 4596),
        clip(Format::Flac, 16_000, 1, 4000),
        clip(Format::Ogg, 44_100, 2, 11_025),
        clip(Format::Flac, 8000, 2, 1500),
    ];
    for ((format, file), want) in files().into_iter().zip(want) {
        assert_eq!(decode(&file, None), want);
        assert_eq!(decode(&file, Some(format)), want);
        for declared in Format::ALL.into_iter().filter(|declared| *declared != format) {
            let error = decode(&file, Some(declared)).expect_err("another format");
            let wanted = format!("\"format\" is {declared}, but the file is a {format} file; ");
            assert!(error.to_string().starts_with(&wanted), "{error}");
        }
    }
}

#[test]
fn a_truncated_file_is_refused() {
    for (format, file) in files() {
        let step = (file.len() / 300).max(1);
        for end in (0..file.len()).step_by(step) {
            // An MP3 file without a tag is valid if it ends between two frames. In a file with a
            // tag, the last frame may be missing, because the tags of some encoders count one frame
            // too many.
            let between = match (format, file.len()) {
                (Format::Mp3, 2502) => end % 417 == 0 && end > 0,
                (Format::Mp3, len) => end == len - 72,
                _ => false,
            };
            assert_eq!(decode(&file[..end], None).is_ok(), between, "{format} {end} of {}", file.len());
        }
    }
    assert_eq!(decode(&mp3(6)[..6 * 417 - 1], None), Err(DecodeError::Truncated(Format::Mp3)));
    assert_eq!(decode(&BEEP_OGG[..BEEP_OGG.len() - 1], None), Err(DecodeError::Truncated(Format::Ogg)));
    let short = flac(8000, 9000, &[Block::Constant(4096, 0), Block::Constant(4096, 0)]);
    assert_eq!(decode(&short, None), Err(DecodeError::Truncated(Format::Flac)));
    let wav = wav(8000, 1, 100);
    assert_eq!(decode(&wav[..wav.len() - 2], None), Err(DecodeError::Truncated(Format::Wav)));
}

#[test]
fn other_files_are_refused() {
    for file in [&b"GIF89a..."[..], b"RIFF\x10\0\0\0AVI LIST", b"hello", &[0; 5000], &[0xff; 5000]] {
        assert_eq!(decode(file, None), Err(DecodeError::Unknown));
    }
    assert_eq!(decode(b"", None), Err(DecodeError::Empty));
    assert_eq!(decode(&wav(8000, 1, 0), None), Err(DecodeError::Empty));
    assert_eq!(decode(&flac(8000, 0, &[]), None), Err(DecodeError::Empty));
}

#[test]
fn all_variants_of_wave_files_are_supported() {
    for (tag, bits) in [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)] {
        let file = wav_of(tag, bits, 44_100, 2, &vec![0; 100 * 2 * usize::from(bits / 8)]);
        assert_eq!(decode(&file, None), clip(Format::Wav, 44_100, 2, 100), "{tag} {bits}");
    }
    for (tag, bits) in [(2, 4), (1, 12), (3, 16), (85, 16), (1, 0), (0xfffe, 16)] {
        let error = decode(&wav_of(tag, bits, 44_100, 1, &[0; 64]), None).expect_err("refused");
        assert!(matches!(error, DecodeError::Unsupported { .. }), "{tag} {bits}: {error}");
    }
    // This file has a chunk of odd length before the format chunk. The data chunk is followed by an
    // unknown chunk and by bytes that are no chunk.
    let plain = wav(8000, 1, 10);
    let list = chunk(b"LIST", b"odd");
    let file = [&plain[..12], &list, &plain[12..], &list, b"tail"].concat();
    assert_eq!(decode(&file, None), clip(Format::Wav, 8000, 1, 10));
    // A program that writes into a pipe does not know the length, so it writes the largest number.
    let mut piped = plain.clone();
    piped[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(decode(&piped, None), clip(Format::Wav, 8000, 1, 10));
    // This file has the extensible form of the format chunk.
    let long =
        [&plain[20..34], b"\x10\x00\x16\x00\x10\x00\x04\x00\x00\x00\x01\x00", wav_subformat()].concat();
    let file = [&b"RIFF\0\0\0\0WAVE"[..], &chunk(b"fmt ", &long), &plain[36..]].concat();
    let mut file = file;
    file[20..22].copy_from_slice(&[0xfe, 0xff]);
    assert_eq!(decode(&file, None), clip(Format::Wav, 8000, 1, 10));
}

fn wav_subformat() -> &'static [u8] {
    b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
}

#[test]
fn mp3_files_can_have_tags_and_unknown_data_at_both_ends() {
    let frames = mp3(4);
    let id3v2 = [&b"ID3\x04\0\0\0\0\x02\x00"[..], &[0; 256]].concat();
    let id3v1 = [&b"TAG"[..], &[b' '; 125]].concat();
    let want = clip(Format::Mp3, 44_100, 2, 4 * 1152);
    for parts in [
        [&id3v2[..], &frames, &id3v1],
        [&id3v2, &frames, &[0; 1000]],
        [&[0; 100], &frames, b"made by somebody"],
        [&frames[..417 * 2], &id3v2, &frames[417 * 2..]],
    ] {
        assert_eq!(decode(&parts.concat(), None), want);
    }
    let torn = [&frames[..], &[7; 50], &frames].concat();
    assert!(matches!(decode(&torn, None), Err(DecodeError::Damaged { .. })));
    assert!(decode(&id3v2, None).is_err());
}

#[test]
fn sample_rate_channels_and_length_are_limited() {
    assert_eq!(decode(&wav(8000, 3, 10), None), Err(DecodeError::Channels(3)));
    assert_eq!(decode(&wav(7999, 1, 10), None), Err(DecodeError::SampleRate(7999)));
    assert_eq!(decode(&wav(192_001, 1, 10), None), Err(DecodeError::SampleRate(192_001)));
    let second = vec![0; 8000];
    assert!(decode(&wav_of(1, 8, 8000, 1, &second.repeat(600)), None).is_ok());
    assert_eq!(decode(&wav_of(1, 8, 8000, 1, &second.repeat(601)), None), Err(DecodeError::TooLong));
    let may_continue = || false;
    assert_eq!(decode_while(&mp3(3), None, &may_continue), Err(DecodeError::TooSlow));
}

#[test]
fn a_decompression_bomb_is_refused_at_the_limit() {
    // Each block has 13 to 15 bytes for 65,535 samples. The total number of samples is missing or
    // wrong.
    let blocks = vec![Block::Constant(65_535, 0); 3000];
    for declared in [0, 1000 * 65_535, (1 << 36) - 1] {
        let bomb = flac(192_000, declared, &blocks);
        assert!(bomb.len() < 50_000);
        assert_eq!(decode(&bomb, None), Err(DecodeError::TooLong), "{declared}");
    }
    assert_eq!(decode(&mp3(30_000), None), Err(DecodeError::TooLong));
}

/// An Ogg file that contains only the three headers: the first header of `BEEP_OGG`, an empty
/// comment header, and `setup`.
fn ogg_with_setup(setup: &[u8]) -> Vec<u8> {
    let page = |flags: u8, number: u32, packets: &[&[u8]]| {
        let mut laces = Vec::new();
        for packet in packets {
            laces.extend(vec![255; packet.len() / 255]);
            laces.push((packet.len() % 255) as u8);
        }
        let head = [
            &b"OggS\0"[..],
            &[flags],
            &[0; 8],
            &7u32.to_le_bytes(),
            &number.to_le_bytes(),
            &[0; 4],
            &[laces.len() as u8],
            &laces,
        ];
        let mut page = [&head.concat()[..], &packets.concat()].concat();
        let sum = CRC_32.add(0, &page);
        page[22..26].copy_from_slice(&sum.to_le_bytes());
        page
    };
    let ident = &BEEP_OGG[28..58];
    [page(2, 0, &[ident]), page(4, 1, &[b"\x03vorbis", setup])].concat()
}

#[test]
fn a_huge_codebook_is_refused_before_it_is_allocated() {
    // This header of 30 bytes declares 2^24 − 1 codewords of 65,535 values each.
    let mut setup = b"\x05vorbis\x00BCV\xff\xff\xff\xff\xff".to_vec();
    setup.extend([0x41, 0xff, 0xff, 0xff, 0x03, 0x10, 0, 0, 0, 0, 0, 0, 0, 0]);
    let error = decode(&ogg_with_setup(&setup), None).expect_err("refused");
    assert!(matches!(error, DecodeError::Unsupported { .. }), "{error}");
    let error = decode(&ogg_with_setup(b"\x05vorbis\x01BC"), None).expect_err("refused");
    assert_eq!(error, DecodeError::Damaged { format: Format::Ogg, what: "its third header is invalid" });
}

#[test]
fn several_streams_in_one_ogg_file_are_refused() {
    let error = decode(&BEEP_OGG.repeat(2), None).expect_err("refused");
    assert!(error.to_string().contains("several streams"), "{error}");
}

#[test]
fn a_changed_byte_in_a_frame_or_page_is_refused() {
    // The frames of `CHORD_FLAC` start at byte 86. The metadata before the frames has no checksum.
    for (file, start) in [(CHORD_FLAC, 86), (CHORD_OGG, 0), (BEEP_OGG, 0)] {
        for at in start..file.len() {
            let mut file = file.to_vec();
            file[at] ^= 1 << (at % 8);
            assert!(decode(&file, None).is_err(), "{at}");
        }
    }
}

#[test]
fn an_invalid_audio_packet_is_refused() {
    // The first bit of an audio packet must be 0. The last page starts with an audio packet, so
    // setting the lowest bit of its first byte makes this packet invalid.
    let mut file = BEEP_OGG.to_vec();
    let page = file.windows(4).rposition(|bytes| bytes == b"OggS").expect("a page");
    let body = page + 27 + usize::from(file[page + 26]);
    file[body] |= 1;
    let error = decode(&with_right_checksums(file), None).expect_err("refused");
    assert_eq!(error, DecodeError::Damaged { format: Format::Ogg, what: "one of its packets is invalid" });
}

/// Asserts that a file is refused or gives a valid clip. Only the MP3 decoder may panic, because it
/// is a third-party crate.
fn survives(file: &[u8]) {
    let checked = std::panic::catch_unwind(|| decode(file, None));
    assert!(checked.is_ok() || Format::of(file) == Some(Format::Mp3));
    if let Ok(Ok(clip)) = checked {
        assert!(clip.frames > 0 && clip.duration_s() <= clip::MAX_CLIP_S);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_are_handled(
        kind in 0..files().len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (_, mut file) = files()[kind].clone();
        for (at, byte) in &flips {
            let at = at.index(file.len());
            file[at] = *byte;
        }
        survives(&file);
        survives(&file[..cut.index(file.len())]);
        survives(&with_right_checksums(file));
    }
}

/// Corrects the checksums of Ogg pages, so that the decoder reads the damaged pages.
fn with_right_checksums(mut file: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while file[at..].starts_with(b"OggS") && at + 27 < file.len() {
        let laces = at + 27..(at + 27 + usize::from(file[at + 26])).min(file.len());
        let body: usize = file[laces.clone()].iter().map(|lace| usize::from(*lace)).sum();
        let end = (laces.end + body).min(file.len());
        file[at + 22..at + 26].fill(0);
        let sum = CRC_32.add(0, &file[at..end]);
        file[at + 22..at + 26].copy_from_slice(&sum.to_le_bytes());
        at = end;
    }
    file
}
