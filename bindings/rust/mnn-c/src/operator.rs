//! Operators of the host.

use crate::call::{c_string, check, defaults};
use crate::codes::{ElementType, Format};
use crate::error::{Error, ErrorKind, Result};
use crate::interpreter::Interpreter;
use crate::node::{list, HostTensor, HostTensorMut, Node};
use crate::panics;
use mnn_c_sys as sys;
use std::os::raw::c_void;
use std::sync::atomic::Ordering;

/// An operator that the host computes: nodes that a converter wrote as `Plugin` or `Extra`, and operators of the format
/// that the library lacks.
///
/// Its functions are called on the thread that creates, resizes, runs or drops a session, by several sessions at the
/// same time. A function that fails ends that call with the kind of its error, and a panic is raised again in the
/// caller.
///
/// ```
/// use mnn_c::{Format, HostTensor, HostTensorMut, Interpreter, Node, Operator, ScheduleConfig};
///
/// struct SoftShrink;
///
/// impl Operator for SoftShrink {
///     type State = f32;
///
///     fn prepare(&self, node: &Node<'_>, _inputs: &[HostTensor<'_>]) -> mnn_c::Result<f32> {
///         Ok(node.attribute("lambd")?.float())
///     }
///
///     fn compute(
///         &self,
///         lambd: &mut f32,
///         _node: &Node<'_>,
///         inputs: &[HostTensor<'_>],
///         outputs: &mut [HostTensorMut<'_>],
///     ) -> mnn_c::Result<()> {
///         let x = inputs[0].values::<f32>()?;
///         for (y, x) in outputs[0].values_mut::<f32>()?.iter_mut().zip(x) {
///             *y = x.signum() * (x.abs() - *lambd).max(0.0);
///         }
///         Ok(())
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/own_operator/shrink.mnn");
/// let net = Interpreter::from_file(path)?;
/// net.add_operator("SoftShrink", SoftShrink)?; // before the first session
/// let mut session = net.create_session(&ScheduleConfig::new())?;
/// session.input_mut("x")?.write(&[1f32; 12], Format::Nchw)?;
/// session.run()?;
/// assert_eq!(session.output("y")?.read::<f32>(Format::Nchw)?, [2.5; 12]); // 2 - 0.5 + 1
/// # Ok::<(), mnn_c::Error>(())
/// ```
pub trait Operator: Send + Sync + 'static {
    /// The state that one plan of a session keeps for this operator, `()` for none.
    type State: Send + 'static;

    /// The inputs whose elements [`shape`](Self::shape) reads: bit i for input i, of the first 32. Where these are not
    /// constant, the nodes after this one are planned during a run, and again only when the elements differ.
    fn content_inputs(&self) -> u64 {
        0
    }

    /// Sets the shape of every output. Without an implementation output i has the shape and type of input i, a single
    /// output those of input 0.
    fn shape(
        &self,
        node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [OutputShape<'_>],
    ) -> Result<()> {
        if inputs.is_empty() || (outputs.len() != 1 && outputs.len() != inputs.len()) {
            let (inputs, outputs) = (inputs.len(), outputs.len());
            let message = format!(
                "{inputs} inputs of '{}' cannot shape {outputs} outputs",
                node.name()
            );
            return Err(Error::new(ErrorKind::ComputeSize, message));
        }
        for (output, input) in outputs.iter_mut().zip(inputs) {
            output.set(input.dims());
            output.set_type(input.element_type());
            output.set_format(input.format());
        }
        Ok(())
    }

    /// Makes the state of a plan, once its shapes are known. Constant inputs have values.
    fn prepare(&self, node: &Node<'_>, inputs: &[HostTensor<'_>]) -> Result<Self::State>;

    /// Writes all elements of every output, in each run. It is not called when no output has elements.
    fn compute(
        &self,
        state: &mut Self::State,
        node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> Result<()>;
}

/// The shape of an output, which [`Operator::shape`] sets. Type and format are those of input 0 (without inputs: `f32`
/// and [`Format::Nchw`]) unless they are set, too.
pub struct OutputShape<'c>(&'c mut sys::mnn_host_tensor_t);

impl OutputShape<'_> {
    /// Sets its extents, in the order of its format. More than [`MAX_RANK`](crate::MAX_RANK) fail the call.
    pub fn set(&mut self, dims: &[i32]) {
        self.0.rank = dims.len().try_into().unwrap_or(i32::MAX);
        for (to, from) in self.0.dims.iter_mut().zip(dims) {
            *to = *from;
        }
    }

    /// Sets the type of its elements.
    pub fn set_type(&mut self, element_type: ElementType) {
        self.0.r#type = element_type.code();
    }

    /// Sets the order of its extents.
    pub fn set_format(&mut self, format: Format) {
        self.0.format = format.code();
    }
}

impl Interpreter {
    /// Registers an operator for the sessions of this interpreter: for `Plugin` and `Extra` nodes of this type, and for
    /// the operator of the format that has this name. It is dropped with the last of the interpreter and its sessions.
    ///
    /// Fails with [`ErrorKind::BadState`] after the first session, and with [`ErrorKind::InvalidValue`] for a name that
    /// is already registered or an operator that the library runs itself.
    pub fn add_operator<O: Operator>(&self, name: &str, operator: O) -> Result<()> {
        let name = c_string(name, "the name")?;
        // SAFETY: the function initialises this struct.
        let mut op = unsafe { defaults(sys::mnn_operator_init) }?;
        op.name = name.as_ptr();
        op.content_inputs = operator.content_inputs();
        op.shape = Some(on_shape::<O>);
        op.prepare = Some(on_prepare::<O>);
        op.compute = Some(on_compute::<O>);
        op.release = Some(on_release::<O>);
        op.finalizer = Some(on_last::<O>);
        self.calls_host.store(true, Ordering::Relaxed);
        hand_over(operator, |user_data| {
            op.user_data = user_data;
            // SAFETY: the struct is copied.
            unsafe { sys::mnn_interpreter_add_operator(self.as_ptr_mut(), &op) }
        })
    }
}

/// Passes an object to a call of the library, which keeps it until `on_last` if the call succeeds.
pub(crate) fn hand_over<T>(object: T, call: impl FnOnce(*mut c_void) -> sys::mnn_status) -> Result<()> {
    let object = Box::into_raw(Box::new(object));
    let result = check(call(object.cast()));
    if result.is_err() {
        // SAFETY: the library does not keep it.
        drop(unsafe { Box::from_raw(object) });
    }
    result
}

/// Runs a function of the operator; its error becomes status and message of the call.
///
/// # Safety
/// The call comes from the library.
pub(crate) unsafe fn answer(
    call: *mut sys::mnn_operator_call_t,
    body: impl FnOnce() -> Result<()>,
) -> sys::mnn_status {
    let error = match panics::catch(body) {
        Some(Ok(())) => return sys::MNN_OK,
        Some(Err(error)) => error,
        None => return sys::MNN_ERROR_CALLBACK_STOP, // the panic is raised again in the caller
    };
    // SAFETY: the caller keeps the promise of this function: that many bytes lie there.
    unsafe {
        let length = error.message().len().min((*call).message_size.saturating_sub(1));
        std::ptr::copy_nonoverlapping(error.message().as_ptr(), (*call).message.cast(), length);
        *(*call).message.add(length) = 0;
    }
    match error.code() {
        // A caller can make an error with the number of success: then no state exists.
        sys::MNN_OK => sys::MNN_ERROR_CALLBACK_STOP,
        code => code,
    }
}

/// # Safety
/// The call comes from the library, and its tensors live for `'c`.
pub(crate) unsafe fn inputs<'c>(call: *const sys::mnn_operator_call_t) -> Vec<HostTensor<'c>> {
    // SAFETY: the caller keeps the promise of this function.
    unsafe { list((*call).inputs, (*call).input_count) }
        .iter()
        .map(|tensor| unsafe { HostTensor::new(&**tensor) })
        .collect()
}

/// # Safety
/// The call comes from the library, and its tensors live for `'c`. This function is called once for it.
pub(crate) unsafe fn outputs<'c>(
    call: *const sys::mnn_operator_call_t,
) -> impl Iterator<Item = &'c mut sys::mnn_host_tensor_t> {
    // SAFETY: the caller keeps the promise of this function.
    unsafe { list((*call).outputs, (*call).output_count) }
        .iter()
        .map(|tensor| unsafe { &mut **tensor })
}

/// # Safety
/// `user_data` is an `O`, and the call comes from the library.
unsafe extern "C" fn on_shape<O: Operator>(
    user_data: *mut c_void,
    call: *mut sys::mnn_operator_call_t,
) -> sys::mnn_status {
    // SAFETY: the caller keeps the promise of this function; several threads may use the operator.
    unsafe {
        answer(call, || {
            let operator = &*user_data.cast::<O>();
            let mut shapes: Vec<_> = outputs(call).map(OutputShape).collect();
            operator.shape(&Node::new(&*(*call).node), &inputs(call), &mut shapes)
        })
    }
}

/// # Safety
/// The conditions are those of `on_shape`.
unsafe extern "C" fn on_prepare<O: Operator>(
    user_data: *mut c_void,
    call: *mut sys::mnn_operator_call_t,
) -> sys::mnn_status {
    // SAFETY: the caller keeps the promise of this function.
    unsafe {
        answer(call, || {
            let operator = &*user_data.cast::<O>();
            let state = operator.prepare(&Node::new(&*(*call).node), &inputs(call))?;
            (*call).state = Box::into_raw(Box::new(state)).cast();
            Ok(())
        })
    }
}

/// # Safety
/// The conditions are those of `on_shape`. The state comes from `on_prepare`, and no other thread uses it.
pub(crate) unsafe extern "C" fn on_compute<O: Operator>(
    user_data: *mut c_void,
    call: *mut sys::mnn_operator_call_t,
) -> sys::mnn_status {
    // SAFETY: the caller keeps the promise of this function.
    unsafe {
        answer(call, || {
            let operator = &*user_data.cast::<O>();
            let state = &mut *(*call).state.cast::<O::State>();
            let mut tensors: Vec<_> = outputs(call).map(|tensor| HostTensorMut::new(tensor)).collect();
            operator.compute(state, &Node::new(&*(*call).node), &inputs(call), &mut tensors)
        })
    }
}

/// # Safety
/// `state` comes from `on_prepare` and is not used any more.
pub(crate) unsafe extern "C" fn on_release<O: Operator>(_user_data: *mut c_void, state: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| drop(unsafe { Box::from_raw(state.cast::<O::State>()) }));
}

/// # Safety
/// `user_data` is an `O` that is not used any more.
pub(crate) unsafe extern "C" fn on_last<O: Operator>(user_data: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| drop(unsafe { Box::from_raw(user_data.cast::<O>()) }));
}
