//! Sound files for tests. The functions make simple files in code. The constants are files that real
//! encoders have written: a beep (0.25 s, mono, 16 kHz) and a stereo chord.

/// The beep, encoded by `oggenc`.
pub const BEEP_OGG: &[u8] = include_bytes!("../sounds/beep.ogg");
/// The beep, encoded by `lame` with a variable bit rate.
pub const BEEP_MP3: &[u8] = include_bytes!("../sounds/beep.mp3");
/// The beep, encoded by `flac`.
pub const BEEP_FLAC: &[u8] = include_bytes!("../sounds/beep.flac");
/// The chord (0.25 s, 44.1 kHz), encoded by `libvorbis` with coupled channels, long and short blocks.
pub const CHORD_OGG: &[u8] = include_bytes!("../sounds/chord.ogg");
/// The chord (1500 samples, 8 kHz, 24 bits), encoded by `libFLAC` with a linear predictor, a
/// difference of the channels, and omitted low bits.
pub const CHORD_FLAC: &[u8] = include_bytes!("../sounds/chord.flac");

/// A WAVE file of silence with 16 bits per sample. `frames` is the number of samples per channel.
pub fn wav(sample_rate: u32, channels: u16, frames: usize) -> Vec<u8> {
    wav_of(1, 16, sample_rate, channels, &vec![0; frames * usize::from(channels) * 2])
}

/// A WAVE file with this format tag, bits per sample and data.
pub fn wav_of(tag: u16, bits: u16, sample_rate: u32, channels: u16, data: &[u8]) -> Vec<u8> {
    let stride = channels.wrapping_mul(bits / 8);
    let format = [
        &tag.to_le_bytes()[..],
        &channels.to_le_bytes(),
        &sample_rate.to_le_bytes(),
        &sample_rate.wrapping_mul(stride.into()).to_le_bytes(),
        &stride.to_le_bytes(),
        &bits.to_le_bytes(),
    ];
    let chunks = [chunk(b"fmt ", &format.concat()), chunk(b"data", data)].concat();
    chunk(b"RIFF", &[b"WAVE", &chunks[..]].concat())
}

/// A chunk of a WAVE file: name, length, body, and padding to an even length.
pub fn chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len() % 2];
    [&name[..], &(body.len() as u32).to_le_bytes(), body, &padding].concat()
}

/// An MP3 file of silent frames: MPEG 1, 128 kbit/s, 44.1 kHz, stereo, 1152 samples per frame.
pub fn mp3(frames: usize) -> Vec<u8> {
    let mut frame = vec![0; 417];
    frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0x00]);
    frame.repeat(frames)
}

/// A mono FLAC file with 16 bits per sample. `said` is the number of samples that the header of the
/// file claims.
pub fn flac(sample_rate: u32, said: u64, blocks: &[Block]) -> Vec<u8> {
    let packed = u64::from(sample_rate) << 44 | 15 << 36 | said;
    let sizes = [16u16, 65_535].map(u16::to_be_bytes).concat();
    let info = [&sizes[..], &[0; 6], &packed.to_be_bytes(), &[0; 16]].concat();
    let mut file = [&b"fLaC\x80\x00\x00\x22"[..], &info].concat();
    for (number, block) in blocks.iter().enumerate() {
        file.extend(block.frame(number as u32));
    }
    file
}

/// A block of a FLAC file.
#[derive(Debug, Clone)]
pub enum Block {
    /// A number of samples that all have the same value: the number, and the value.
    Constant(u16, i16),
    /// Uncompressed samples.
    Verbatim(Vec<i16>),
}

impl Block {
    fn frame(&self, number: u32) -> Vec<u8> {
        let (size, body) = match self {
            Block::Constant(size, value) => (*size, [&[0][..], &value.to_be_bytes()].concat()),
            Block::Verbatim(samples) => {
                let samples: Vec<u8> = samples.iter().flat_map(|s| s.to_be_bytes()).collect();
                ((samples.len() / 2) as u16, [&[2][..], &samples].concat())
            }
        };
        let number = char::from_u32(number).expect("few blocks").to_string();
        let mut frame = [&[0xff, 0xf8, 0x70, 0x08][..], number.as_bytes()].concat();
        frame.extend((size - 1).to_be_bytes());
        frame.push(frame.iter().fold(0, |sum, byte| crc8(sum, *byte)));
        frame.extend(body);
        let sum = frame.iter().fold(0, |sum, byte| crc16(sum, *byte));
        frame.extend(sum.to_be_bytes());
        frame
    }
}

fn crc8(sum: u8, byte: u8) -> u8 {
    (0..8).fold(sum ^ byte, |sum, _| sum << 1 ^ if sum >> 7 == 1 { 0x07 } else { 0 })
}

fn crc16(sum: u16, byte: u8) -> u16 {
    (0..8).fold(sum ^ u16::from(byte) << 8, |sum, _| sum << 1 ^ if sum >> 15 == 1 { 0x8005 } else { 0 })
}
