//! Tests the reader and the writer of `.npy` tables. Both must be compatible with NumPy, and the
//! reader must be safe for hostile files.

use chicane_formats::npy::{Array, read, write};
use proptest::prelude::*;

/// A file with the given format version, header and data.
fn file(version: [u8; 2], header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY".to_vec();
    out.extend_from_slice(&version);
    if version[0] == 1 {
        out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    } else {
        out.extend_from_slice(&(header.len() as u32).to_le_bytes());
    }
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

fn dict(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

fn error(bytes: &[u8]) -> String {
    let error = read("routes/r.npy", bytes).expect_err("bad").to_string();
    assert!(error.starts_with("routes/r.npy: "), "{error}");
    error
}

#[test]
fn every_type_order_and_version_is_read() {
    type Encode = fn(f64) -> Vec<u8>;
    let values = [1.0, 2.0, 3.5, -4.0, 5.0, 6.25];
    let by_column = [1.0, 3.5, 5.0, 2.0, -4.0, 6.25];
    let bytes = |values: &[f64], encode: Encode| values.iter().flat_map(|&v| encode(v)).collect::<Vec<u8>>();
    let types: [(&str, Encode); 4] = [
        ("'<f8'", |v| v.to_le_bytes().to_vec()),
        ("'>f8'", |v| v.to_be_bytes().to_vec()),
        ("'<f4'", |v| (v as f32).to_le_bytes().to_vec()),
        ("'>f4'", |v| (v as f32).to_be_bytes().to_vec()),
    ];
    let expected = Array { rows: 3, columns: 2, values: values.to_vec() };
    for (descr, encode) in types {
        for version in [[1, 0], [2, 0], [3, 0]] {
            let c = file(version, &dict(descr, "False", "(3, 2)"), &bytes(&values, encode));
            assert_eq!(read("r", &c), Ok(expected.clone()), "{descr} {version:?}");
            let fortran = file(version, &dict(descr, "True", "(3, 2)"), &bytes(&by_column, encode));
            assert_eq!(read("r", &fortran), Ok(expected.clone()), "{descr} {version:?}");
        }
    }
}

#[test]
fn unusual_headers_are_read() {
    for header in [
        "{\"shape\": (1L, 1L), \"descr\": \"<f8\", \"fortran_order\": False}",
        "  { 'fortran_order' :True,'shape':(1,1,),'descr':'<f8' }   \n",
    ] {
        assert!(read("r", &file([1, 0], header, &[0; 8])).is_ok(), "{header}");
    }
}

/// The expected bytes are the bytes that `numpy.save` (2.x) writes for `[[0, 1], [2, 3], [4, 5]]`.
#[test]
fn the_writer_gives_the_bytes_of_numpy() {
    let array = Array { rows: 3, columns: 2, values: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0] };
    let bytes = write(&array);
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }";
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    assert_eq!(bytes[10..128].trim_ascii_end(), header.as_bytes());
    assert_eq!((bytes[127], bytes.len()), (b'\n', 128 + 48));
}

#[test]
fn other_types_and_shapes_are_refused() {
    let with = |descr: &str, shape: &str| file([1, 0], &dict(descr, "False", shape), &[0; 16]);
    assert!(error(&with("'|O'", "(2, 1)")).contains("Python objects are not supported"));
    for descr in ["'<i8'", "'<f2'", "'|S8'", "'=f8'", "''"] {
        assert!(error(&with(descr, "(2, 1)")).contains("use <f8, >f8, <f4 or >f4"), "{descr}");
    }
    assert!(error(&with("[('x', '<f8')]", "(2, 1)")).contains("records are not supported"));
    for shape in ["()", "(2,)", "(2, 1, 1)", "(-1, 2)", "(a, b)", "(2, 1", "2", "(,)", "(2.0, 1)"] {
        assert!(error(&with("'<f8'", shape)).contains("shape") || shape == "2", "{shape}");
    }
    assert!(error(&with("'<f8'", "(2, 0)")).contains("0 columns; 1 to 16 are allowed"));
    assert!(error(&with("'<f8'", "(1, 17)")).contains("17 columns; 1 to 16"));
}

#[test]
fn sizes_are_checked_before_memory_is_allocated() {
    for rows in ["200001", "100000000000", "18446744073709551615", "99999999999999999999999999999999"] {
        let bytes = file([1, 0], &dict("'<f8'", "False", &format!("({rows}, 2)")), &[]);
        assert!(error(&bytes).contains("rows; at most 200000 are allowed"), "{rows}");
    }
    let bytes = file([1, 0], &dict("'<f8'", "False", "(200000, 16)"), &[]);
    assert!(error(&bytes).contains("needs 25600000 bytes of data, but the file has 0"));
    let mut bytes = b"\x93NUMPY\x02\0".to_vec();
    bytes.extend_from_slice(&u32::MAX.to_le_bytes());
    assert!(error(&bytes).contains("the header has 4294967295 bytes; at most 65536"));
}

#[test]
fn the_length_of_the_data_must_match_the_shape() {
    for length in [0, 15, 17, 24] {
        let bytes = file([1, 0], &dict("'<f8'", "False", "(2, 1)"), &vec![0; length]);
        assert!(error(&bytes).contains(&format!("needs 16 bytes of data, but the file has {length}")));
    }
}

#[test]
fn numbers_must_be_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut array = Array { rows: 3, columns: 2, values: vec![0.0; 6] };
        array.values[3] = bad;
        assert!(error(&write(&array)).contains("row 1, column 1 (from 0) is not a finite number"));
    }
}

#[test]
fn broken_headers_are_refused() {
    let cases = [
        (file([4, 0], "", &[]), "version 4.0"),
        (file([1, 1], "", &[]), "version 1.1"),
        (file([1, 0], "", &[]), "expected {"),
        (file([1, 0], "{}", &[]), "must have the keys 'descr', 'fortran_order' and 'shape'"),
        (file([1, 0], "{'x': 1}", &[]), "unknown key 'x'"),
        (file([1, 0], "{'descr", &[]), "a string has no closing quote"),
        (file([1, 0], "{'fortran_order': 1}", &[]), "True or False"),
        (file([1, 0], &(dict("'<f8'", "False", "(0, 1)") + "x"), &[]), "continues after its closing }"),
        (b"PK\x03\x04".to_vec(), "not a .npy file"),
        (Vec::new(), "not a .npy file"),
    ];
    for (bytes, part) in cases {
        assert!(error(&bytes).contains(part), "{part}");
    }
}

#[test]
fn a_file_truncated_at_any_byte_is_an_error() {
    let whole = write(&Array { rows: 2, columns: 2, values: vec![1.0; 4] });
    for end in 0..whole.len() {
        error(&whole[..end]);
    }
}

prop_compose! {
    fn table()(columns in 1usize..=16)(
        values in proptest::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::ZERO, 0..20)
            .prop_map(move |v| v[..v.len() / columns * columns].to_vec()),
        columns in Just(columns),
    ) -> Array {
        Array { rows: values.len() / columns, columns, values }
    }
}

proptest! {
    #[test]
    fn a_table_survives_writing_and_reading(array in table()) {
        let bytes = write(&array);
        prop_assert_eq!(bytes.len() % 8, 0);
        prop_assert_eq!(read("r", &bytes), Ok(array));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>(), header in ".{0,80}") {
        let _ = read("r", &bytes);
        let _ = read("r", &file([1, 0], &header, &bytes));
    }

    #[test]
    fn changed_bytes_never_panic(changes in proptest::collection::vec((0usize..176, any::<u8>()), 1..6)) {
        let mut bytes = write(&Array { rows: 3, columns: 2, values: vec![1.0; 6] });
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if let Ok(array) = read("r", &bytes) {
            prop_assert_eq!(array.values.len(), array.rows * array.columns);
        }
    }
}
