//! Backends of the host.

use crate::call::{c_string, defaults};
use crate::codes::ForwardType;
use crate::error::Result;
use crate::node::{list, HostTensor, HostTensorMut, Node};
use crate::operator::{answer, hand_over, inputs, on_compute, on_last, on_release, outputs, Operator};
use crate::runtime::Runtime;
use mnn_c_sys as sys;
use std::os::raw::c_void;

/// A backend of the host: it computes operators of the library in sessions of a runtime to which it was added; the CPU
/// computes the others. It sees the nodes of the model; the library determines shapes and types.
///
/// Its functions are called on the thread that creates, resizes, runs or drops a session, by several sessions at the
/// same time. A function that fails ends that call with the kind of its error, and a panic is raised again in the
/// caller.
///
/// ```
/// use mnn_c::{
///     Error, ErrorKind, HostBackend, HostTensor, HostTensorMut, Interpreter, Node, RuntimeConfig, ScheduleConfig,
/// };
///
/// struct Pooling;
///
/// impl HostBackend for Pooling {
///     type State = usize;
///
///     fn supports(&self, node: &Node<'_>, inputs: &[HostTensor<'_>], _: &[HostTensor<'_>]) -> mnn_c::Result<()> {
///         match node.type_name() == "Pooling" && inputs[0].dims()[2..] == [8, 8] {
///             true => Ok(()),
///             false => Err(Error::new(ErrorKind::NotSupported, "it is for poolings")),
///         }
///     }
///
///     fn prepare(&self, node: &Node<'_>, _: &[HostTensor<'_>], _: &[HostTensor<'_>]) -> mnn_c::Result<usize> {
///         Ok(node.attribute("kernelX")?.int() as usize)
///     }
///
///     fn compute(
///         &self,
///         kernel: &mut usize,
///         _node: &Node<'_>,
///         inputs: &[HostTensor<'_>],
///         outputs: &mut [HostTensorMut<'_>],
///     ) -> mnn_c::Result<()> {
///         let x = inputs[0].values::<f32>()?;
///         for (i, y) in outputs[0].values_mut::<f32>()?.iter_mut().enumerate() {
///             let (map, v, u) = (i / 16, i / 4 % 4, i % 4);
///             let place = |k: usize| map * 64 + (v * 2 + k / *kernel) * 8 + u * 2 + k % *kernel;
///             *y = (0..*kernel * *kernel).map(|k| x[place(k)]).fold(f32::MIN, f32::max);
///         }
///         Ok(())
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
/// let net = Interpreter::from_file(path)?;
/// let runtime = RuntimeConfig::new().create()?;
/// let pooling = runtime.add_backend("pooling", Pooling)?;
/// let config = ScheduleConfig::new().runtime(&runtime).forward_type(pooling);
/// let mut session = net.create_session(&config)?;
/// session.run()?;
/// let mut pooled = 0;
/// for i in 0..session.op_count()? {
///     pooled += usize::from(session.op(i)?.backend_name == "pooling");
/// }
/// assert_eq!(pooled, 1);
/// # Ok::<(), mnn_c::Error>(())
/// ```
pub trait HostBackend: Send + Sync + 'static {
    /// The state that one plan of a session keeps for a node, `()` for none.
    type State: Send + 'static;

    /// Whether the backend computes a node over tensors of these shapes and types. An error of
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) means that it does not, for the reason in the
    /// message; another error fails the planning. Inputs have values where these are already known.
    fn supports(&self, node: &Node<'_>, inputs: &[HostTensor<'_>], outputs: &[HostTensor<'_>]) -> Result<()>;

    /// Makes the state of a node that it computes. Constant inputs have values. `weights` has the weights of a
    /// convolution or an inner product `[outputs, inputs of a group, window]` (of a deconvolution `[inputs, outputs of
    /// a group, window]`), then the bias.
    fn prepare(
        &self,
        node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        weights: &[HostTensor<'_>],
    ) -> Result<Self::State>;

    /// Writes all elements of every output, in each run.
    fn compute(
        &self,
        state: &mut Self::State,
        node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> Result<()>;
}

/// Gives a backend the callbacks of an operator that do not differ: compute, release, finalizer.
#[repr(transparent)]
struct Nodes<B>(B);

impl<B: HostBackend> Operator for Nodes<B> {
    type State = B::State;

    fn prepare(&self, node: &Node<'_>, inputs: &[HostTensor<'_>]) -> Result<B::State> {
        self.0.prepare(node, inputs, &[])
    }

    fn compute(
        &self,
        state: &mut B::State,
        node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> Result<()> {
        self.0.compute(state, node, inputs, outputs)
    }
}

impl Runtime {
    /// Adds a backend for sessions that are created afterwards, and returns the forward type for their configuration.
    /// The backend is dropped with the last of the runtime and its sessions.
    ///
    /// Fails with [`ErrorKind::InvalidValue`](crate::ErrorKind::InvalidValue) for the name of another backend of this
    /// runtime or of the library.
    pub fn add_backend<B: HostBackend>(&self, name: &str, backend: B) -> Result<ForwardType> {
        let name = c_string(name, "the name")?;
        // SAFETY: the function initialises this struct.
        let mut filled = unsafe { defaults(sys::mnn_backend_init) }?;
        filled.name = name.as_ptr();
        filled.supports = Some(on_supports::<B>);
        filled.prepare = Some(on_prepare::<B>);
        filled.compute = Some(on_compute::<Nodes<B>>);
        filled.release = Some(on_release::<Nodes<B>>);
        filled.finalizer = Some(on_last::<Nodes<B>>);
        self.set_calls_host();
        let mut forward_type = 0;
        hand_over(Nodes(backend), |user_data| {
            filled.user_data = user_data;
            // SAFETY: the struct is copied.
            unsafe { sys::mnn_runtime_add_backend(self.as_ptr(), &filled, &mut forward_type) }
        })?;
        Ok(ForwardType::from_code(forward_type))
    }
}

/// # Safety
/// `user_data` is a `Nodes<B>`, and the call comes from the library.
unsafe extern "C" fn on_supports<B: HostBackend>(
    user_data: *mut c_void,
    call: *mut sys::mnn_operator_call_t,
) -> sys::mnn_status {
    // SAFETY: the caller keeps the promise of this function; several threads may use the backend.
    unsafe {
        answer(call, || {
            let backend = &(*user_data.cast::<Nodes<B>>()).0;
            let outputs: Vec<_> = outputs(call).map(|tensor| HostTensor::new(&*tensor)).collect();
            backend.supports(&Node::new(&*(*call).node), &inputs(call), &outputs)
        })
    }
}

/// # Safety
/// The conditions are those of `on_supports`.
unsafe extern "C" fn on_prepare<B: HostBackend>(
    user_data: *mut c_void,
    call: *mut sys::mnn_operator_call_t,
) -> sys::mnn_status {
    // SAFETY: the caller keeps the promise of this function.
    unsafe {
        answer(call, || {
            let backend = &(*user_data.cast::<Nodes<B>>()).0;
            let weights: Vec<_> = list((*call).weights, (*call).weight_count)
                .iter()
                .map(|tensor| HostTensor::new(&**tensor))
                .collect();
            let state = backend.prepare(&Node::new(&*(*call).node), &inputs(call), &weights)?;
            (*call).state = Box::into_raw(Box::new(state)).cast();
            Ok(())
        })
    }
}
