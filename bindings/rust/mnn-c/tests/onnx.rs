//! The module `onnx`: conversions, their options and reports, and interpreters of ONNX files.
#![cfg(feature = "onnx")]

mod support;

use mnn_c::onnx::*;
use mnn_c::{CancelToken, ErrorKind, Format, Interpreter, InterpreterOptions, ScheduleConfig};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = value.len();
    while length >= 128 {
        bytes.push((length & 127 | 128) as u8);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(value);
    bytes
}

fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

fn node(op_type: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let mut body: Vec<u8> = inputs
        .iter()
        .flat_map(|input| field(1, input.as_bytes()))
        .collect();
    body.extend(field(2, output.as_bytes()));
    body.extend(field(4, op_type.as_bytes()));
    field(1, &body)
}

/// Returns the description of a value of the shape [batch, columns].
fn value(name: &str, columns: u8) -> Vec<u8> {
    let shape = [field(1, &field(2, b"batch")), field(1, &number(1, columns))].concat();
    let tensor = [number(1, 1), field(2, &shape)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
}

fn model(nodes: &[Vec<u8>], columns: u8, constants: &[Vec<u8>]) -> Vec<u8> {
    let mut graph = nodes.concat();
    graph.extend(constants.iter().flat_map(|one| field(5, one)));
    graph.extend(field(11, &value("x", 64)));
    graph.extend(field(12, &value("y", columns)));
    let opset = [field(1, b""), number(2, 18)].concat();
    [number(1, 9), field(7, &graph), field(8, &opset)].concat()
}

/// Returns a model: x [batch, 64] times a matrix -> h -> Relu -> y [batch, 32].
fn product() -> Vec<u8> {
    let matrix: Vec<u8> = (0..64 * 32).flat_map(|i| element(i).to_le_bytes()).collect();
    let constant = [
        number(1, 64),
        number(1, 32),
        number(2, 1),
        field(8, b"w"),
        field(9, &matrix),
    ]
    .concat();
    let nodes = [node("MatMul", &["x", "w"], "h"), node("Relu", &["h"], "y")];
    model(&nodes, 32, &[constant])
}

fn element(i: i32) -> f32 {
    (i * 37 % 101 - 50) as f32 / 64.0
}

fn lacking() -> Vec<u8> {
    model(&[node("NoSuchOperator", &["x"], "y")], 64, &[])
}

fn assert_right(net: &Interpreter, error: f32) {
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    session
        .input_at_mut(0)
        .unwrap()
        .write(&[1f32; 64], Format::Nchw)
        .unwrap();
    session.run().unwrap();
    let got: Vec<f32> = session.output_at(0).unwrap().read(Format::Nchw).unwrap();
    for (n, value) in got.iter().enumerate() {
        let wanted: f32 = (0..64).map(|k| element(k * 32 + n as i32)).sum();
        assert!((value - wanted.max(0.0)).abs() <= error, "{n}: {value}, {wanted}");
    }
}

/// A folder that is removed with the test.
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mnn_c_onnx_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn weights_have_the_wanted_form() {
    for (weights, block, beside, error) in [
        (Weights::Float32, 0, false, 1e-4),
        (Weights::Float32, 0, true, 1e-4),
        (Weights::Float16, 0, false, 0.05),
        (Weights::Int8, 0, false, 0.3),
        (Weights::Int4, 32, false, 4.0),
    ] {
        let made = Conversion::new()
            .weights(weights)
            .weight_block(block)
            .weights_beside(beside)
            .convert_bytes(&product())
            .unwrap();
        assert_eq!(made.weights().unwrap().is_empty(), !beside);
        let report = made.report().unwrap();
        assert_eq!((report.nodes, report.problems.len()), (2, 0));
        assert_eq!(report.notes.len(), usize::from(beside));
        assert_right(&made.load(InterpreterOptions::new()).unwrap(), error);
    }
}

#[test]
fn files_are_read_and_written() {
    let folder = Folder::new("files");
    let (source, target) = (folder.0.join("net.onnx"), folder.0.join("net.mnn"));
    std::fs::write(&source, product()).unwrap();
    assert_right(&Interpreter::from_onnx(&source).unwrap(), 1e-4);
    let made = Conversion::new()
        .weights_beside(true)
        .convert_file(&source)
        .unwrap();
    made.save(&target).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), made.data().unwrap());
    assert_right(&Interpreter::from_file(&target).unwrap(), 1e-4);
    let error = Interpreter::from_file(&source).unwrap_err();
    assert!(error.message().contains("mnn convert"), "{error}");
    let error = Interpreter::from_onnx(folder.0.join("none.onnx")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileNotExist);
    let error = made.save(folder.0.join("none").join("net.mnn")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileWriteFailed);
}

/// Users of Windows may make no symbolic links.
#[cfg(unix)]
#[test]
fn options_are_those_of_the_library() {
    let made = Conversion::new()
        .extent("batch", 5)
        .output("h")
        .convert_bytes(&product())
        .unwrap();
    let net = made.load(InterpreterOptions::new()).unwrap();
    assert_eq!(net.output_names().unwrap(), ["h"]);
    assert_eq!(net.inputs().unwrap()[0].shape, [5, 64]);
    let shaped = Conversion::new()
        .shape("x", [3, -1])
        .convert_bytes(&product())
        .unwrap();
    let net = shaped.load(InterpreterOptions::new()).unwrap();
    assert_eq!(net.inputs().unwrap()[0].shape, [3, 64]);
    for (conversion, kind) in [
        (Conversion::new().shape("z", [1]), ErrorKind::NotFound),
        (Conversion::new().output("z"), ErrorKind::NotFound),
        (Conversion::new().weight_block(8), ErrorKind::InvalidValue),
        (Conversion::new().max_memory_bytes(100), ErrorKind::LimitExceeded),
    ] {
        assert_eq!(conversion.convert_bytes(&product()).unwrap_err().kind(), kind);
    }
    #[cfg(unix)]
    links();
}

#[cfg(unix)]
fn links() {
    let folder = Folder::new("links");
    let external = [field(1, b"location"), field(2, b"data")].concat();
    let constant = [
        number(1, 64),
        number(1, 32),
        number(2, 1),
        field(8, b"w"),
        field(13, &external),
        number(14, 1),
    ]
    .concat();
    let nodes = [node("MatMul", &["x", "w"], "h"), node("Relu", &["h"], "y")];
    let apart = model(&nodes, 32, &[constant]);
    let matrix: Vec<u8> = (0..64 * 32).flat_map(|i| element(i).to_le_bytes()).collect();
    let inside = folder.0.join("inside");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(folder.0.join("blob"), matrix).unwrap();
    std::os::unix::fs::symlink(folder.0.join("blob"), inside.join("data")).unwrap();
    let error = Conversion::new()
        .data_folder(&inside)
        .convert_bytes(&apart)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadFormat);
    let linked = Conversion::new().data_folder(&inside).follow_links(true);
    let net = linked
        .convert_bytes(&apart)
        .unwrap()
        .load(InterpreterOptions::new());
    assert_right(&net.unwrap(), 1e-4);
}

#[test]
fn conversions_are_watched_and_ended() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let of_the_closure = seen.clone();
    let watch = move |done, total| {
        of_the_closure.borrow_mut().push((done, total));
        true
    };
    Conversion::new()
        .progress(watch)
        .convert_bytes(&product())
        .unwrap();
    assert_eq!(*seen.borrow(), [(1, 2), (2, 2)]);
    let error = Conversion::new()
        .progress(|_, _| false)
        .convert_bytes(&product())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CallbackStop);
    let panics = std::panic::catch_unwind(|| {
        Conversion::new()
            .progress(|_, _| panic!("enough"))
            .convert_bytes(&product())
    });
    assert_eq!(panics.unwrap_err().downcast_ref::<&str>(), Some(&"enough"));
    let token = CancelToken::new().unwrap();
    token.trigger();
    let error = Conversion::new()
        .cancel(&token)
        .convert_bytes(&product())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn all_problems_are_listed() {
    let made = Conversion::new().convert_bytes(&lacking()).unwrap();
    let problems = made.report().unwrap().problems;
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (problems[0].op_type.as_str(), problems[0].opset),
        ("NoSuchOperator", 18)
    );
    assert_eq!(problems[0].kind, ErrorKind::NotSupported);
    let error = made.data().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert!(error.message().contains("NoSuchOperator"), "{error}");
    assert!(made.load(InterpreterOptions::new()).is_err());
}
