//! Writes messages as CBOR (RFC 8949). Arrays of floats are typed arrays (RFC 8746), which clients
//! read without a conversion, and which can contain NaN and infinities. An empty array is written
//! as a plain array.

use serde::Serialize;
use serde::ser::{
    Error, Impossible, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct, Serializer,
};
use std::fmt::Display;

/// Tag of an array of little-endian floats of 32 bits.
const FLOAT32_ARRAY: u64 = 85;
/// Tag of an array of little-endian floats of 64 bits.
const FLOAT64_ARRAY: u64 = 86;

/// A value that can be written as CBOR.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cbor {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float32(f32),
    Float64(f64),
    Text(String),
    Bytes(Vec<u8>),
    Array(Vec<Cbor>),
    Map(Vec<(&'static str, Cbor)>),
}

/// The message contains a type that this module can't write. No message of the robot contains such
/// a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotWritable(String);

impl Display for NotWritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotWritable {}

impl Error for NotWritable {
    fn custom<T: Display>(text: T) -> NotWritable {
        NotWritable(text.to_string())
    }
}

impl Cbor {
    /// Converts a message.
    pub(super) fn of(value: &impl Serialize) -> Result<Cbor, NotWritable> {
        value.serialize(ToCbor)
    }

    /// Appends the bytes of this value.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Cbor::Null => out.push(0xf6),
            Cbor::Bool(value) => out.push(0xf4 + u8::from(*value)),
            Cbor::Unsigned(value) => head(out, 0, *value),
            Cbor::Signed(value) if *value < 0 => head(out, 1, !*value as u64),
            Cbor::Signed(value) => head(out, 0, *value as u64),
            Cbor::Float32(value) => {
                out.push(0xfa);
                out.extend_from_slice(&value.to_be_bytes());
            }
            Cbor::Float64(value) => {
                out.push(0xfb);
                out.extend_from_slice(&value.to_be_bytes());
            }
            Cbor::Text(text) => write_text(out, text),
            Cbor::Bytes(bytes) => {
                head(out, 2, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
            Cbor::Array(items) => write_array(out, items),
            Cbor::Map(fields) => {
                head(out, 5, fields.len() as u64);
                for (name, value) in fields {
                    write_text(out, name);
                    value.write(out);
                }
            }
        }
    }
}

/// Writes the major type of a value, and its length or number.
fn head(out: &mut Vec<u8>, kind: u8, number: u64) {
    let kind = kind << 5;
    match number {
        0..24 => out.push(kind | number as u8),
        24..0x100 => out.extend_from_slice(&[kind | 24, number as u8]),
        0x100..0x1_0000 => {
            out.push(kind | 25);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(kind | 26);
            out.extend_from_slice(&(number as u32).to_be_bytes());
        }
        _ => {
            out.push(kind | 27);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    head(out, 3, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn write_array(out: &mut Vec<u8>, items: &[Cbor]) {
    let bytes = |tag: u64, out: &mut Vec<u8>, size: usize| {
        head(out, 6, tag);
        head(out, 2, (size * items.len()) as u64);
    };
    match items.first() {
        Some(Cbor::Float32(_)) => bytes(FLOAT32_ARRAY, out, 4),
        Some(Cbor::Float64(_)) => bytes(FLOAT64_ARRAY, out, 8),
        _ => {
            head(out, 4, items.len() as u64);
            items.iter().for_each(|item| item.write(out));
            return;
        }
    }
    // All items of an array of a ROS message have the same type.
    for item in items {
        match item {
            Cbor::Float32(value) => out.extend_from_slice(&value.to_le_bytes()),
            Cbor::Float64(value) => out.extend_from_slice(&value.to_le_bytes()),
            _ => debug_assert!(false, "an array of several types"),
        }
    }
}

/// Converts a value to [`Cbor`].
struct ToCbor;

/// The items of an array.
struct Items(Vec<Cbor>);

/// The fields of an object.
struct Fields(Vec<(&'static str, Cbor)>);

fn unsupported(what: &str) -> NotWritable {
    NotWritable(format!("{what} is not part of a ROS message"))
}

impl Serializer for ToCbor {
    type Ok = Cbor;
    type Error = NotWritable;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Impossible<Cbor, NotWritable>;
    type SerializeMap = Impossible<Cbor, NotWritable>;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Impossible<Cbor, NotWritable>;

    fn serialize_bool(self, v: bool) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Bool(v))
    }

    fn serialize_i8(self, v: i8) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Signed(v.into()))
    }

    fn serialize_i16(self, v: i16) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Signed(v.into()))
    }

    fn serialize_i32(self, v: i32) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Signed(v.into()))
    }

    fn serialize_i64(self, v: i64) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Signed(v))
    }

    fn serialize_u8(self, v: u8) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Unsigned(v.into()))
    }

    fn serialize_u16(self, v: u16) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Unsigned(v.into()))
    }

    fn serialize_u32(self, v: u32) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Unsigned(v.into()))
    }

    fn serialize_u64(self, v: u64) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Unsigned(v))
    }

    fn serialize_f32(self, v: f32) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Float32(v))
    }

    fn serialize_f64(self, v: f64) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Float64(v))
    }

    fn serialize_char(self, v: char) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Text(v.into()))
    }

    fn serialize_str(self, v: &str) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Text(v.to_owned()))
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Bytes(v.to_owned()))
    }

    fn serialize_none(self) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Cbor, NotWritable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Text(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Cbor, NotWritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Cbor, NotWritable> {
        Err(unsupported("an enumeration"))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items, NotWritable> {
        Ok(Items(Vec::with_capacity(length.unwrap_or(0))))
    }

    fn serialize_tuple(self, length: usize) -> Result<Items, NotWritable> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items, NotWritable> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NotWritable> {
        Err(unsupported("an enumeration"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NotWritable> {
        Err(unsupported("a map"))
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Fields, NotWritable> {
        Ok(Fields(Vec::with_capacity(length)))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NotWritable> {
        Err(unsupported("an enumeration"))
    }
}

impl SerializeSeq for Items {
    type Ok = Cbor;
    type Error = NotWritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritable> {
        self.0.push(value.serialize(ToCbor)?);
        Ok(())
    }

    fn end(self) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Array(self.0))
    }
}

impl SerializeTuple for Items {
    type Ok = Cbor;
    type Error = NotWritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritable> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<Cbor, NotWritable> {
        SerializeSeq::end(self)
    }
}

impl SerializeTupleStruct for Items {
    type Ok = Cbor;
    type Error = NotWritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritable> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<Cbor, NotWritable> {
        SerializeSeq::end(self)
    }
}

impl SerializeStruct for Fields {
    type Ok = Cbor;
    type Error = NotWritable;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), NotWritable> {
        self.0.push((name, value.serialize(ToCbor)?));
        Ok(())
    }

    fn end(self) -> Result<Cbor, NotWritable> {
        Ok(Cbor::Map(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &Cbor) -> Vec<u8> {
        let mut out = Vec::new();
        value.write(&mut out);
        out
    }

    #[test]
    fn values_are_written_as_the_examples_of_the_standard() {
        for (value, expected) in [
            (Cbor::Unsigned(0), &[0x00][..]),
            (Cbor::Unsigned(23), &[0x17]),
            (Cbor::Unsigned(24), &[0x18, 0x18]),
            (Cbor::Unsigned(1000), &[0x19, 0x03, 0xe8]),
            (Cbor::Unsigned(1_000_000), &[0x1a, 0x00, 0x0f, 0x42, 0x40]),
            (Cbor::Unsigned(u64::MAX), &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (Cbor::Signed(-1), &[0x20]),
            (Cbor::Signed(-1000), &[0x39, 0x03, 0xe7]),
            (Cbor::Signed(7), &[0x07]),
            (Cbor::Float64(1.1), &[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
            (Cbor::Float32(100_000.0), &[0xfa, 0x47, 0xc3, 0x50, 0x00]),
            (Cbor::Bool(true), &[0xf5]),
            (Cbor::Null, &[0xf6]),
            (Cbor::Text("IETF".to_owned()), &[0x64, 0x49, 0x45, 0x54, 0x46]),
            (Cbor::Bytes(vec![1, 2, 3, 4]), &[0x44, 1, 2, 3, 4]),
            (Cbor::Array(vec![Cbor::Unsigned(1), Cbor::Unsigned(2)]), &[0x82, 1, 2]),
            (Cbor::Array(Vec::new()), &[0x80]),
            (Cbor::Map(vec![("a", Cbor::Unsigned(1))]), &[0xa1, 0x61, 0x61, 0x01]),
        ] {
            assert_eq!(written(&value), expected, "{value:?}");
        }
    }

    #[test]
    fn arrays_of_floats_are_typed_arrays() {
        let floats = Cbor::of(&vec![1.0f32, f32::INFINITY]).expect("a value");
        assert_eq!(written(&floats), [0xd8, 85, 0x48, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x7f]);
        let doubles = Cbor::of(&[1.0f64]).expect("a value");
        assert_eq!(written(&doubles), [0xd8, 86, 0x48, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}
