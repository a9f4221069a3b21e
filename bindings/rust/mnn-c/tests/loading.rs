//! Loading in every way, the description of a model, and the lifetimes of the objects.

mod support;

use mnn_c::{ElementType, ErrorKind, Format, Interpreter, InterpreterOptions, ScheduleConfig, F16};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use support::*;

/// Bytes that count when they are dropped.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fill(0xff); // code that still uses the bytes would notice
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

fn scores_of(net: &Interpreter) -> Vec<f32> {
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    classify(&mut session, &pixels(PIXELS, 1)).unwrap()
}

#[test]
fn every_way_gives_the_same_model() {
    let wanted = reference(1);
    let options = InterpreterOptions::new;
    // SAFETY: the demo is not changed.
    let mapped = unsafe { options().load_mapped_file(digits("digits.mnn")) };
    assert_eq!(scores_of(&mapped.unwrap()), wanted);
    assert_eq!(
        scores_of(&Interpreter::from_bytes(&model_bytes()).unwrap()),
        wanted
    );
    assert_eq!(
        scores_of(&Interpreter::from_owner(model_bytes()).unwrap()),
        wanted
    );
    let shared: Arc<[u8]> = model_bytes().into();
    assert_eq!(scores_of(&Interpreter::from_owner(shared).unwrap()), wanted);
    let odd: Vec<u8> = std::iter::once(0).chain(model_bytes()).collect();
    assert_eq!(scores_of(&Interpreter::from_bytes(&odd[1..]).unwrap()), wanted);
}

#[test]
fn copied_bytes_may_go_at_once() {
    let mut bytes = model_bytes();
    let net = Interpreter::from_bytes(&bytes).unwrap();
    bytes.fill(0xff);
    drop(bytes);
    assert_eq!(scores_of(&net), reference(1));
}

#[test]
fn a_read_file_may_change_afterwards() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("changing.mnn");
    std::fs::write(&path, model_bytes()).unwrap();
    let net = Interpreter::from_file(&path).unwrap();
    std::fs::write(&path, b"").unwrap();
    assert_eq!(scores_of(&net), reference(1));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn borrowed_bytes_live_until_the_last_session_is_gone() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = || dropped.load(Ordering::SeqCst);
    let net = Interpreter::from_owner(Counted(model_bytes(), dropped.clone())).unwrap();
    let mut first = net.create_session(&ScheduleConfig::new()).unwrap();
    let mut second = net.create_session(&ScheduleConfig::new()).unwrap();
    drop(net);
    assert_eq!(count(), 0);
    assert_eq!(classify(&mut first, &pixels(PIXELS, 1)).unwrap(), reference(1));
    drop(first);
    assert_eq!(count(), 0);
    second.input_mut("image").unwrap().resize(&[2, 1, 8, 8]).unwrap();
    second.resize().unwrap();
    assert_eq!(
        classify(&mut second, &pixels(2 * PIXELS, 1)).unwrap().len(),
        2 * CLASSES
    );
    drop(second);
    assert_eq!(count(), 1);
}

#[test]
fn borrowed_bytes_go_with_a_failure() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let owner = Counted(vec![0; 1000], dropped.clone());
    assert_fails(Interpreter::from_owner(owner), ErrorKind::BadFormat);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn any_order_of_dropping() {
    for order in 0..3 {
        let net = open();
        let first = net.create_session(&ScheduleConfig::new()).unwrap();
        let second = net.create_session(&ScheduleConfig::new()).unwrap();
        match order {
            0 => drop((first, second, net)),
            1 => drop((net, second, first)),
            _ => drop((second, net, first)),
        }
    }
}

#[test]
fn dropping_on_another_thread() {
    let net = open();
    let session = net.create_session(&ScheduleConfig::new().threads(2)).unwrap();
    std::thread::spawn(move || drop(net)).join().unwrap();
    std::thread::spawn(move || drop(session)).join().unwrap();
}

#[test]
fn what_a_model_tells() {
    let net = open();
    assert_eq!(net.uuid().unwrap(), "a1259237-b271-40ec-9e4b-cba072a76bec");
    assert_eq!(net.model_version().unwrap(), "3.6.1");
    assert_eq!(net.biz_code().unwrap(), "demo");
    assert!(net.parameter_count().unwrap() > 9000);
    let inputs = net.inputs().unwrap();
    assert_eq!(inputs.len(), 1);
    assert_eq!(inputs[0].name, "image");
    assert_eq!(inputs[0].shape, [1, 1, 8, 8]);
    assert_eq!(inputs[0].element_type, ElementType::Float32);
    assert_eq!(inputs[0].format, Format::Nchw);
    assert_eq!(net.output_names().unwrap(), ["scores"]);
}

#[test]
fn the_operators_of_a_file() {
    let net = open();
    let count = net.op_count().unwrap();
    let ops: Vec<_> = (0..count).map(|index| net.op(index).unwrap()).collect();
    assert_eq!(ops.iter().filter(|op| op.type_name == "Convolution").count(), 3);
    assert!(ops.iter().all(|op| op.supported));
    assert!(ops
        .iter()
        .any(|op| op.outputs.iter().any(|name| name == "scores")));
    assert_fails(net.op(count), ErrorKind::BadIndex);
}

#[test]
fn what_is_no_model() {
    assert_fails(
        Interpreter::from_file("no/such/file.mnn"),
        ErrorKind::FileNotExist,
    );
    assert_fails(Interpreter::from_file(digits("")), ErrorKind::FileOpenFailed);
    assert_fails(
        Interpreter::from_file(digits("test_images.bin")),
        ErrorKind::BadFormat,
    );
    assert_fails(Interpreter::from_file("zero\0byte"), ErrorKind::InvalidValue);
    assert_fails(Interpreter::from_bytes(&[]), ErrorKind::Truncated);
    assert_fails(Interpreter::from_bytes(&[7; 4096]), ErrorKind::BadFormat);
    let bytes = model_bytes();
    for part in 1..8 {
        assert!(Interpreter::from_bytes(&bytes[..bytes.len() * part / 8]).is_err());
    }
}

/// Returns the floats of an array of the conformance case weights__external, a member of its case.npz: a zip file whose
/// members are stored uncompressed, one behind the other.
fn case_floats(name: &str) -> Vec<f32> {
    let archive = std::fs::read(external_case("case.npz")).unwrap();
    let mut rest = &archive[..];
    while rest.starts_with(b"PK\x03\x04") {
        let two = |at: usize| usize::from(u16::from_le_bytes([rest[at], rest[at + 1]]));
        let size = two(22) | two(24) << 16;
        let begin = 30 + two(26) + two(28);
        if &rest[30..30 + two(26)] == name.as_bytes() {
            let npy = &rest[begin..begin + size];
            let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
            let floats = npy[header..].chunks_exact(4);
            return floats
                .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                .collect();
        }
        rest = &rest[begin + size..];
    }
    panic!("case.npz has no member {name}");
}

#[test]
fn external_weights_are_read() {
    let bytes = std::fs::read(external_case("model.mnn")).unwrap();
    let options = InterpreterOptions::new;
    let weights = external_case("model.mnn.weight");
    let nets = [
        options().external_weights(&weights).load_bytes(&bytes),
        options()
            .external_weights(&weights)
            .load_file(external_case("model.mnn")),
        options().load_file(external_case("model.mnn")), // beside the model
    ];
    for net in nets {
        let mut session = net.unwrap().create_session(&ScheduleConfig::new()).unwrap();
        let x = case_floats("in_x.npy");
        session.input_mut("x").unwrap().write(&x, Format::Nchw).unwrap();
        session.run().unwrap();
        let got: Vec<f32> = session.output("y_scale").unwrap().read(Format::Nchw).unwrap();
        let wanted = case_floats("out_y_scale.npy");
        assert_eq!(got.len(), wanted.len());
        for (a, b) in got.iter().zip(&wanted) {
            assert!((a - b).abs() <= 1e-4, "{got:?} is not {wanted:?}");
        }
    }
    let missing = options().external_weights("no/such/file.weight");
    let sentence = assert_fails(missing.load_bytes(&bytes), ErrorKind::FileNotExist);
    assert!(sentence.contains("no/such/file.weight"), "{sentence}");
    assert_fails(options().load_bytes(&bytes), ErrorKind::FileNotExist);
}

#[test]
fn external_weights_of_the_program() {
    let bytes = std::fs::read(external_case("model.mnn")).unwrap();
    let weights = std::fs::read(external_case("model.mnn.weight")).unwrap();
    let wanted = case_floats("out_y_scale.npy");
    let scale_of = |net: Interpreter| {
        let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
        drop(net);
        let x = case_floats("in_x.npy");
        session.input_mut("x").unwrap().write(&x, Format::Nchw).unwrap();
        session.run().unwrap();
        let got: Vec<f32> = session.output("y_scale").unwrap().read(Format::Nchw).unwrap();
        assert_eq!(got.len(), wanted.len());
        for (a, b) in got.iter().zip(&wanted) {
            assert!((a - b).abs() <= 1e-4, "{got:?} is not {wanted:?}");
        }
    };
    let dropped = Arc::new(AtomicUsize::new(0));
    let owner = Counted(weights.clone(), dropped.clone());
    let options = InterpreterOptions::new().external_weight_bytes(owner);
    scale_of(options.load_bytes(&bytes).unwrap());
    assert_eq!(dropped.load(Ordering::SeqCst), 1);

    let held = Arc::new(weights.clone());
    let source = held.clone();
    let options =
        InterpreterOptions::new().external_weight_reader(source.len() as u64, move |offset, target| {
            let begin = usize::try_from(offset).unwrap();
            target.copy_from_slice(&source[begin..begin + target.len()]);
            Ok(())
        });
    scale_of(options.load_bytes(&bytes).unwrap());
    assert_eq!(Arc::strong_count(&held), 1); // the closure was dropped

    let fails = || {
        InterpreterOptions::new().external_weight_reader(weights.len() as u64, |_, _| {
            Err(std::io::Error::new(std::io::ErrorKind::Other, "no network"))
        })
    };
    let failure = fails()
        .load_bytes(&bytes)
        .and_then(|net| net.create_session(&ScheduleConfig::new()));
    assert_fails(failure, ErrorKind::FileReadFailed);
    let both = fails().external_weights(external_case("model.mnn.weight"));
    assert_fails(both.load_bytes(&bytes), ErrorKind::InvalidValue);
    let owner = Counted(Vec::new(), dropped.clone());
    let empty = InterpreterOptions::new().external_weight_bytes(owner);
    assert_fails(empty.load_bytes(&bytes), ErrorKind::Truncated);
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[test]
fn a_panic_of_a_weight_reader_goes_on() {
    let bytes = std::fs::read(external_case("model.mnn")).unwrap();
    let result = std::panic::catch_unwind(|| {
        let options = InterpreterOptions::new().external_weight_reader(1 << 20, |_, _| panic!("no disk"));
        let net = options.load_bytes(&bytes).unwrap();
        net.create_session(&ScheduleConfig::new()).map(|_| ())
    });
    assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), "no disk");
}

#[test]
fn what_a_model_declares() {
    let net = Interpreter::from_file(net_of_tests("declared.mnn")).unwrap();
    let inputs = net.declared_inputs().unwrap();
    let types: Vec<_> = inputs.iter().map(|input| input.declared_type.unwrap()).collect();
    let declared = [
        ElementType::Int64,
        ElementType::Bool,
        ElementType::Double,
        ElementType::Uint8,
    ];
    assert_eq!(types[..4], declared);
    assert_eq!(inputs[0].element_type, Some(ElementType::Int32));
    assert_eq!(inputs[2].shape.as_deref(), Some(&[2, -1, -1, 3][..]));
    let outputs = net.declared_outputs().unwrap();
    let find = |name: &str| outputs.iter().find(|output| output.name == name).unwrap();
    assert_eq!(find("doubled").shape.as_deref(), Some(&[-1, 4][..]));
    assert_eq!(find("doubled").declared_type, None);
    assert_eq!(find("narrow").declared_type, Some(ElementType::Bool));
    assert_eq!(find("asked").shape, None);
    assert_eq!(find("asked").element_type, None);
}

#[test]
fn tensors_of_halves() {
    let net = Interpreter::from_file(net_of_tests("halves.mnn")).unwrap();
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    let x: Vec<F16> = (0..30).map(|i| F16(0x3c00 + 16 * i)).collect(); // from 1 in steps of 1/64
    session.input_mut("x").unwrap().write(&x, Format::Nchw).unwrap();
    session
        .input_mut("factor")
        .unwrap()
        .write(&[2.0f32], Format::Nchw)
        .unwrap();
    session.run().unwrap();
    let cast = session.output("cast").unwrap();
    assert_eq!(cast.element_type().unwrap(), ElementType::Float16);
    let doubled: Vec<F16> = (0..30).map(|i| F16(0x4000 + 16 * i)).collect();
    assert_eq!(cast.read::<F16>(Format::Nchw).unwrap(), doubled);
    let product: Vec<f32> = session.output("product").unwrap().read(Format::Nchw).unwrap();
    assert_eq!(product[3], 2.0 + 6.0 / 64.0);
}

#[test]
fn external_weights_without_a_consumer() {
    // A model without external weights does not open the file.
    let options = InterpreterOptions::new().external_weights("no/such/file.weight");
    assert_eq!(
        scores_of(&options.load_file(digits("digits.mnn")).unwrap()),
        reference(1)
    );
    let options = InterpreterOptions::new().external_weights("zero\0byte");
    assert_fails(options.load_bytes(&model_bytes()), ErrorKind::InvalidValue);
}

#[test]
fn caches_on_the_cpu() {
    let net = open();
    let session = net.create_session(&ScheduleConfig::new()).unwrap();
    assert!(session.cache().unwrap().is_empty());
    assert_fails(net.update_cache_file(&session), ErrorKind::BadState);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpu.cache");
    net.set_cache_file(Some(&path)).unwrap();
    net.update_cache_file(&session).unwrap();
    assert!(!path.exists());
    net.set_cache_file(None).unwrap();
    assert_fails(net.update_cache_file(&session), ErrorKind::BadState);
    net.set_cache(&[1, 2, 3]).unwrap();
    net.set_cache(&[]).unwrap();
    assert!(!session.cache_accepted().unwrap());
    let path = std::path::Path::new("zero\0byte");
    assert_fails(net.set_cache_file(Some(path)), ErrorKind::InvalidValue);
}
