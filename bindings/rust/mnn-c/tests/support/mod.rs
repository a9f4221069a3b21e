//! The demo model, for all tests.
#![allow(dead_code)]

use mnn_c::{Error, ErrorKind, Format, Interpreter, ScheduleConfig, Session};
use std::path::{Path, PathBuf};

pub const PIXELS: usize = 64;
pub const CLASSES: usize = 10;

/// A file of the demo.
pub fn digits(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/digits");
    folder.join(name)
}

/// A file of a conformance case whose weights are in a separate file.
pub fn external_case(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/conformance/cases");
    folder.join("weights__external").join(name)
}

/// A model that was made for tests.
pub fn net_of_tests(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/c_abi/nets");
    folder.join(name)
}

pub fn model_bytes() -> Vec<u8> {
    std::fs::read(digits("digits.mnn")).expect("the demo model is there")
}

pub fn open() -> Interpreter {
    Interpreter::from_file(digits("digits.mnn")).expect("the demo model loads")
}

/// The instruction set that every machine has that can run this build of the library.
pub fn lowest_isa() -> String {
    mnn_c::cpu().unwrap().isas.pop().unwrap()
}

pub fn open_session() -> Session {
    open().create_session(&ScheduleConfig::new()).expect("a session")
}

/// Deterministic pixels from 0 to 1; every seed gives different ones.
pub fn pixels(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2654435761).wrapping_add(12345);
    let next = |_| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 28) as f32 / 16.0
    };
    (0..count).map(next).collect()
}

pub fn classify(session: &mut Session, pixels: &[f32]) -> mnn_c::Result<Vec<f32>> {
    session.input_mut("image")?.write(pixels, Format::Nchw)?;
    session.run()?;
    session.output("scores")?.read(Format::Nchw)
}

/// The scores of a seeded image, computed by a separate session.
pub fn reference(seed: u32) -> Vec<f32> {
    classify(&mut open_session(), &pixels(PIXELS, seed)).expect("the demo runs")
}

/// Checks that the result is an error of this kind with a sentence.
#[track_caller]
pub fn assert_fails<T>(result: Result<T, Error>, kind: ErrorKind) -> String {
    match result {
        Ok(_) => panic!("it worked, wanted {kind:?}"),
        Err(error) => {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(!error.message().is_empty());
            error.message().to_string()
        }
    }
}

/// The message of a panic.
pub fn panic_text<T>(result: std::thread::Result<T>) -> String {
    match result {
        Ok(_) => panic!("there was no panic"),
        Err(payload) => payload.downcast_ref::<&str>().expect("a text").to_string(),
    }
}

/// A loop of the conformance cases, ready to run that many times over tensors of that many rows.
pub fn open_loop(rows: i32, trips: i32) -> Session {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/conformance/cases");
    let net = Interpreter::from_file(cases.join("control__loop_counted/model.mnn")).expect("the case loads");
    let config = ScheduleConfig::new()
        .outputs(["final"])
        .max_loop_iterations(1 << 40);
    let mut session = net.create_session(&config).expect("a session");
    session.input_mut("in0").unwrap().resize(&[rows, 3]).unwrap();
    session.resize().unwrap();
    session
        .input_mut("trips")
        .unwrap()
        .write(&[trips], Format::Nchw)
        .unwrap();
    session
}

/// A model with a constant of each element type, each added to its input.
pub fn source_types() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/conformance/cases");
    folder.join("source__types").join("model.mnn")
}
