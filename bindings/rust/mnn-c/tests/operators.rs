//! Operators of the host: registration, their arguments, failures, panics, the lifetime of operator and states.

mod support;

use mnn_c::{
    Element, ElementType, Error, ErrorKind, Format, HostTensor, HostTensorMut, Interpreter, Node, Operator,
    OutputShape, ScheduleConfig, Session,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use support::assert_fails;

fn open() -> Interpreter {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/own_operator");
    Interpreter::from_file(folder.join("shrink.mnn")).expect("the model loads")
}

#[derive(Default)]
struct Counts {
    computed: AtomicUsize,
    states: AtomicUsize, // made and not dropped
    dropped: AtomicUsize,
}

struct Shrink {
    counts: Arc<Counts>,
    error: Option<Error>,
    panics: bool,
}

impl Shrink {
    fn new(counts: &Arc<Counts>) -> Self {
        Self {
            counts: counts.clone(),
            error: None,
            panics: false,
        }
    }
}

impl Drop for Shrink {
    fn drop(&mut self) {
        self.counts.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

struct State {
    counts: Arc<Counts>,
    lambd: f32,
}

impl Drop for State {
    fn drop(&mut self) {
        self.counts.states.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Operator for Shrink {
    type State = State;

    fn prepare(&self, node: &Node<'_>, inputs: &[HostTensor<'_>]) -> mnn_c::Result<State> {
        assert_eq!(node.name(), "shrunk");
        assert_eq!(node.type_name(), "SoftShrink");
        assert_eq!(node.schema_type(), "Extra");
        assert_eq!(node.engine(), "ONNX");
        assert!(node.info().is_empty());
        assert_eq!((node.input_count(), node.output_count()), (1, 1));
        assert_eq!(node.attributes().count(), 2);
        assert_eq!(node.attribute("onnx_opset_version")?.int(), 13);
        let lambd = node.attribute("lambd")?;
        assert!(lambd.text().is_none() && lambd.tensor().is_none() && lambd.function().is_none());
        assert!(lambd.ints().is_empty() && lambd.floats().is_empty() && lambd.texts().is_empty());
        assert!(lambd.bools().is_empty() && !lambd.bool());
        assert_fails(node.attribute("missing"), ErrorKind::NotFound);
        assert_fails(inputs[0].values::<f32>(), ErrorKind::BadState);
        self.counts.states.fetch_add(1, Ordering::SeqCst);
        Ok(State {
            counts: self.counts.clone(),
            lambd: lambd.float(),
        })
    }

    fn compute(
        &self,
        state: &mut State,
        _node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> mnn_c::Result<()> {
        assert!(!self.panics, "as it was asked to");
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.counts.computed.fetch_add(1, Ordering::SeqCst);
        assert_eq!(inputs[0].dims(), outputs[0].as_tensor().dims());
        assert_eq!(inputs[0].element_type(), f32::TYPE);
        assert_fails(inputs[0].values::<i32>(), ErrorKind::BadType);
        let x = inputs[0].values::<f32>()?;
        for (y, x) in outputs[0].values_mut::<f32>()?.iter_mut().zip(x) {
            *y = x.signum() * (x.abs() - state.lambd).max(0.0);
        }
        Ok(())
    }
}

fn run(session: &mut Session, x: f32) -> mnn_c::Result<Vec<f32>> {
    session.input_mut("x")?.write(&[x; 12], Format::Nchw)?;
    session.run()?;
    session.output("y")?.read(Format::Nchw)
}

#[test]
fn an_operator_runs_until_the_last_session_is_gone() {
    let counts = Arc::new(Counts::default());
    let net = open();
    let sentence = assert_fails(
        net.create_session(&ScheduleConfig::new()),
        ErrorKind::NotSupported,
    );
    assert!(sentence.contains("'SoftShrink'"), "{sentence}");
    net.add_operator("SoftShrink", Shrink::new(&counts)).unwrap();
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    let mut second = net.create_session(&ScheduleConfig::new()).unwrap();
    assert_eq!(counts.states.load(Ordering::SeqCst), 2);
    assert_eq!(run(&mut session, 1.0).unwrap(), [2.5; 12]);
    assert_eq!(run(&mut second, -1.0).unwrap(), [-0.5; 12]);
    assert_fails(
        net.add_operator("Late", Shrink::new(&counts)),
        ErrorKind::BadState,
    );
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 1);
    drop(net);
    drop(second);
    assert_eq!(run(&mut session, 0.1).unwrap(), [1.0; 12]);
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 1);
    drop(session);
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 2);
    assert_eq!(counts.states.load(Ordering::SeqCst), 0);
    assert_eq!(counts.computed.load(Ordering::SeqCst), 3);
}

#[test]
fn names_that_are_taken_are_refused() {
    let counts = Arc::new(Counts::default());
    let net = open();
    for name in ["", "ReLU", "While"] {
        assert_fails(
            net.add_operator(name, Shrink::new(&counts)),
            ErrorKind::InvalidValue,
        );
    }
    assert_fails(
        net.add_operator("a\0b", Shrink::new(&counts)),
        ErrorKind::InvalidValue,
    );
    net.add_operator("SoftShrink", Shrink::new(&counts)).unwrap();
    assert_fails(
        net.add_operator("SoftShrink", Shrink::new(&counts)),
        ErrorKind::InvalidValue,
    );
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 5);
}

#[test]
fn an_error_ends_the_run_with_its_kind() {
    let counts = Arc::new(Counts::default());
    for message in ["no good".to_string(), "é".repeat(300)] {
        let net = open();
        let mut operator = Shrink::new(&counts);
        operator.error = Some(Error::new(ErrorKind::InputData, message.clone()));
        net.add_operator("SoftShrink", operator).unwrap();
        let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
        let sentence = assert_fails(run(&mut session, 1.0), ErrorKind::InputData);
        let start: String = message.chars().take(100).collect();
        assert!(
            sentence.contains("'shrunk'") && sentence.contains(&start),
            "{sentence}"
        );
    }
}

#[test]
fn a_panic_is_raised_again_in_the_caller() {
    let counts = Arc::new(Counts::default());
    let net = open();
    let mut operator = Shrink::new(&counts);
    operator.panics = true;
    net.add_operator("SoftShrink", operator).unwrap();
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    for _ in 0..2 {
        let result = catch_unwind(AssertUnwindSafe(|| run(&mut session, 1.0)));
        let payload = result.unwrap_err();
        assert!(payload
            .downcast_ref::<&str>()
            .unwrap()
            .contains("as it was asked to"));
    }
}

/// An operator whose outputs have the given shape and type.
struct Shaped(Vec<i32>, ElementType);

impl Operator for Shaped {
    type State = ();

    fn shape(
        &self,
        _node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [OutputShape<'_>],
    ) -> mnn_c::Result<()> {
        assert_eq!(inputs[0].dims(), [1, 3, 4]);
        outputs[0].set(&self.0);
        outputs[0].set_type(self.1);
        Ok(())
    }

    fn prepare(&self, _node: &Node<'_>, _inputs: &[HostTensor<'_>]) -> mnn_c::Result<()> {
        Ok(())
    }

    fn compute(
        &self,
        _state: &mut (),
        _node: &Node<'_>,
        _inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> mnn_c::Result<()> {
        outputs[0].values_mut::<f32>()?.fill(5.0);
        Ok(())
    }
}

#[test]
fn shapes_are_checked() {
    let create = |dims: &[i32], element_type| {
        let net = open();
        net.add_operator("SoftShrink", Shaped(dims.to_vec(), element_type))
            .unwrap();
        net.create_session(&ScheduleConfig::new())
    };
    let mut session = create(&[2, 1, 4], ElementType::Float32).unwrap();
    assert_eq!(run(&mut session, 0.0).unwrap(), [6.0; 8]);
    assert_fails(create(&[-1, 4], ElementType::Float32), ErrorKind::BadRange);
    assert_fails(create(&[1; 10], ElementType::Float32), ErrorKind::BadRange);
    assert_fails(
        create(&[i32::MAX, 4], ElementType::Float32),
        ErrorKind::LimitExceeded,
    );
    assert_fails(create(&[1, 3, 4], ElementType::Int64), ErrorKind::BadType);
}

/// It fails with a number that is no error.
struct Zero;

impl Operator for Zero {
    type State = u32;

    fn prepare(&self, _node: &Node<'_>, _inputs: &[HostTensor<'_>]) -> mnn_c::Result<u32> {
        Err(Error::new(ErrorKind::from_code(0), "no state"))
    }

    fn compute(
        &self,
        _state: &mut u32,
        _node: &Node<'_>,
        _inputs: &[HostTensor<'_>],
        _outputs: &mut [HostTensorMut<'_>],
    ) -> mnn_c::Result<()> {
        unreachable!("there is no state")
    }
}

#[test]
fn an_error_with_the_number_of_success_is_a_failure() {
    let net = open();
    net.add_operator("SoftShrink", Zero).unwrap();
    let sentence = assert_fails(
        net.create_session(&ScheduleConfig::new()),
        ErrorKind::CallbackStop,
    );
    assert!(sentence.contains("no state"), "{sentence}");
}
