//! Converts ONNX models to .mnn models. The feature `onnx` adds this module, which links libmnn_c_onnx.
//!
//! ```no_run
//! use mnn_c::onnx::{Conversion, Weights};
//! use mnn_c::Interpreter;
//!
//! # fn main() -> mnn_c::Result<()> {
//! let net = Interpreter::from_onnx("net.onnx")?; // in memory, with the defaults
//! let made = Conversion::new()
//!     .extent("batch", 1)
//!     .weights(Weights::Int8)
//!     .convert_file("net.onnx")?;
//! for problem in made.report()?.problems {
//!     eprintln!("{} '{}': {}", problem.op_type, problem.node, problem.reason);
//! }
//! made.save("net.mnn")?; // an error where nodes have no form
//! # let _ = net;
//! # Ok(())
//! # }
//! ```
//!
//! `docs/convert.md` of the library lists the operators. Errors are those of the crate.

mod enums;

pub use enums::*;

use crate::call::{c_path, initialised, optional_text, sized, Kept};
use crate::cancel::{self, CancelToken};
use crate::error::{Error, ErrorKind, Result};
use crate::interpreter::Interpreter;
use crate::mirror::{mirror, setters, FromC};
use crate::options::InterpreterOptions;
use crate::panics;
use mnn_c_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_void;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut, NonNull};
use std::sync::Arc;

/// Returns the result for a status of libmnn_c_onnx, right after the call. A panic of a closure is continued.
fn check(status: sys::mnn_status) -> Result<()> {
    if status == sys::MNN_OK {
        return Ok(());
    }
    // SAFETY: the string is never NULL, and valid until this thread's next call.
    let message = unsafe { CStr::from_ptr(sys::mnn_onnx_last_error()) };
    let error = Error::new(ErrorKind::from_code(status), message.to_string_lossy());
    panics::resume();
    Err(error)
}

type Watch = Box<dyn FnMut(u64, u64) -> bool>;

/// The settings of a conversion.
#[derive(Default)]
#[must_use]
pub struct Conversion {
    weights: i32,
    block: i32,
    shapes: Vec<(String, Vec<i32>)>,
    extents: Vec<(String, i32)>,
    outputs: Vec<String>,
    data_folder: Option<PathBuf>,
    follow_links: bool,
    weights_beside: bool,
    max_memory_bytes: u64,
    cancel: Option<CancelToken>,
    progress: Option<Watch>,
}

impl Conversion {
    /// The defaults: free extents stay free, and weights are floats of 32 bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The form in which weights are stored.
    pub fn weights(mut self, weights: Weights) -> Self {
        self.weights = weights.code();
        self
    }

    /// The number of weights of a row that share a scale, where weights are stored as codes: a multiple of 16. The
    /// default of 0 means the whole row.
    pub fn weight_block(mut self, weights: i32) -> Self {
        self.block = weights;
        self
    }

    /// The extents of an input; -1 keeps the model's.
    pub fn shape(mut self, input: impl Into<String>, dims: impl Into<Vec<i32>>) -> Self {
        self.shapes.push((input.into(), dims.into()));
        self
    }

    /// The value of a free extent that has a name.
    pub fn extent(mut self, name: impl Into<String>, extent: i32) -> Self {
        self.extents.push((name.into(), extent));
        self
    }

    /// A value that becomes an output; without any the outputs of the model do.
    pub fn output(mut self, name: impl Into<String>) -> Self {
        self.outputs.push(name.into());
        self
    }

    /// The folder of external data of a model in memory. A model in a file has its own.
    pub fn data_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data_folder = Some(folder.into());
        self
    }

    setters! {
        /// Allows external data behind a link that leads out of the folder of the model.
        follow_links: bool;
        /// Stores large arrays outside of the net even where it could hold them.
        weights_beside: bool;
        /// The maximum number of bytes that constants may take while they are read and computed. The default of 0 means
        /// 1 GiB plus 8 times the bytes of the model and of its external data.
        max_memory_bytes: u64;
        /// The token that ends the conversion.
        cancel: shared CancelToken;
    }

    /// Sets a closure that is called with the number of nodes that are read, and their total; `false` ends the
    /// conversion with [`ErrorKind::CallbackStop`]. A panic in it is raised again in the caller.
    pub fn progress(mut self, watch: impl FnMut(u64, u64) -> bool + 'static) -> Self {
        self.progress = Some(Box::new(watch));
        self
    }

    /// Converts a model in a file, which must not change meanwhile.
    pub fn convert_file(self, path: impl AsRef<Path>) -> Result<Converted> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the path lives during the call.
        self.run(|options, out| unsafe { sys::mnn_onnx_convert_file(path.as_ptr(), options, out) })
    }

    /// Converts a model in memory, which is not kept.
    pub fn convert_bytes(self, model: &[u8]) -> Result<Converted> {
        // SAFETY: the bytes live during the call.
        self.run(|options, out| unsafe {
            sys::mnn_onnx_convert_memory(model.as_ptr().cast(), model.len(), options, out)
        })
    }

    fn run(
        mut self,
        convert: impl FnOnce(*const sys::mnn_onnx_options_t, *mut *mut sys::mnn_onnx_result_t) -> sys::mnn_status,
    ) -> Result<Converted> {
        // SAFETY: the function initialises this struct.
        let mut options = unsafe { initialised(sys::mnn_onnx_options_init, check) }?;
        let mut kept = Kept::default();
        let mut shapes = Vec::new();
        for (name, dims) in &self.shapes {
            shapes.push(sys::mnn_onnx_shape_t {
                input: kept.name(name, "a name")?,
                dims: dims.as_ptr(),
                rank: dims.len(),
            });
        }
        let mut extents = Vec::new();
        for (name, extent) in &self.extents {
            let (name, extent) = (kept.name(name, "a name")?, *extent);
            extents.push(sys::mnn_onnx_extent_t { name, extent });
        }
        let folder = self.data_folder.as_deref().map(c_path).transpose()?;
        options.weights = self.weights;
        options.weight_block = self.block;
        options.shapes = shapes.as_ptr();
        options.shape_count = shapes.len();
        options.extents = extents.as_ptr();
        options.extent_count = extents.len();
        (options.outputs, options.output_count) = kept.names(&self.outputs, "a name")?;
        options.data_folder = folder.as_ref().map_or(null(), |folder| folder.as_ptr());
        options.follow_links = self.follow_links.into();
        options.weights_beside = self.weights_beside.into();
        options.max_memory_bytes = self.max_memory_bytes;
        options.cancel = cancel::pointer(&self.cancel);
        if let Some(watch) = &mut self.progress {
            options.progress = Some(on_progress);
            options.progress_user_data = (watch as *mut Watch).cast();
        }
        let mut handle = null_mut();
        check(convert(&options, &mut handle))?;
        let handle = NonNull::new(handle).expect("a handle comes with MNN_OK");
        Ok(Converted { handle })
    }
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversion")
            .field("weights", &Weights::from_code(self.weights))
            .field("shapes", &self.shapes)
            .field("extents", &self.extents)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// # Safety
/// `user_data` is a `Watch` that nothing else uses.
unsafe extern "C" fn on_progress(user_data: *mut c_void, done: u64, total: u64) -> i32 {
    // SAFETY: the caller keeps the promise of this function.
    let watch = unsafe { &mut *user_data.cast::<Watch>() };
    let goes_on = panics::catch(|| watch(done, total)).unwrap_or(false);
    i32::from(!goes_on)
}

mirror! {
    /// A node that cannot be expressed in a .mnn model.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Problem = mnn_onnx_problem_t {
        /// Its name, or that of its first output.
        node: String,
        /// The domain of its operator; "" is ONNX itself.
        domain: String,
        /// Its operator.
        op_type: String,
        /// The version of the domain that the model imports; 0: none.
        opset: i64,
        /// The reason why it cannot be expressed.
        reason: String,
        /// [`ErrorKind::NotSupported`]: it cannot be expressed; others: the node is wrong.
        kind: ErrorKind = status,
    }
}

/// The description of a conversion's result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Nodes of the model; a node of a function counts for each call of the function.
    pub nodes: i64,
    /// Calls of functions.
    pub functions: i64,
    /// Operators of the net.
    pub operators: i64,
    /// Operators whose results became constants.
    pub folded: i64,
    /// Nodes that cannot be expressed; where there are any, there is no net.
    pub problems: Vec<Problem>,
    /// Differences, certain or possible ones, from the ONNX model.
    pub notes: Vec<String>,
}

/// The result of a conversion: a .mnn model, or the list of nodes that cannot be expressed.
#[derive(Debug)]
pub struct Converted {
    handle: NonNull<sys::mnn_onnx_result_t>,
}

// SAFETY: results never change, and every function that takes one may be called from any thread.
unsafe impl Send for Converted {}
// SAFETY: as above.
unsafe impl Sync for Converted {}

impl Drop for Converted {
    fn drop(&mut self) {
        let mut handle = self.handle.as_ptr();
        // SAFETY: the handle is not used any more.
        unsafe { sys::mnn_onnx_result_destroy(&mut handle) };
    }
}

impl Converted {
    /// The description of the result.
    pub fn report(&self) -> Result<Report> {
        let mut found = sized!(mnn_onnx_report_t);
        // SAFETY: the handle is live, and the struct has that size.
        check(unsafe { sys::mnn_onnx_result_report(self.handle.as_ptr(), &mut found) })?;
        Ok(Report {
            nodes: found.nodes,
            functions: found.functions,
            operators: found.operators,
            folded: found.folded,
            problems: (0..found.problems)
                .map(|i| self.problem(i))
                .collect::<Result<_>>()?,
            notes: (0..found.notes).map(|i| self.note(i)).collect::<Result<_>>()?,
        })
    }

    fn problem(&self, index: usize) -> Result<Problem> {
        let mut found = sized!(mnn_onnx_problem_t);
        // SAFETY: the handle is live; the struct has that size, and its strings are the result's.
        unsafe {
            check(sys::mnn_onnx_result_problem(
                self.handle.as_ptr(),
                index,
                &mut found,
            ))?;
            Ok(FromC::from_c(&found))
        }
    }

    fn note(&self, index: usize) -> Result<String> {
        let mut note = null();
        // SAFETY: the handle is live; the string lives as long as the result.
        unsafe {
            check(sys::mnn_onnx_result_note(self.handle.as_ptr(), index, &mut note))?;
            Ok(optional_text(note).unwrap_or_default().into_owned())
        }
    }

    /// The bytes of the .mnn model. Fails with [`ErrorKind::NotSupported`] where nodes cannot be expressed.
    pub fn data(&self) -> Result<&[u8]> {
        self.bytes(sys::mnn_onnx_result_data)
    }

    /// The bytes of large arrays that are stored outside of the model; empty where there are none.
    pub fn weights(&self) -> Result<&[u8]> {
        self.bytes(sys::mnn_onnx_result_weights)
    }

    fn bytes(
        &self,
        get: unsafe extern "C" fn(
            *const sys::mnn_onnx_result_t,
            *mut *const c_void,
            *mut usize,
        ) -> sys::mnn_status,
    ) -> Result<&[u8]> {
        let (mut data, mut size) = (null(), 0);
        // SAFETY: the handle is live; the bytes live as long as it.
        unsafe {
            check(get(self.handle.as_ptr(), &mut data, &mut size))?;
            Ok(match NonNull::new(data as *mut u8) {
                Some(data) => std::slice::from_raw_parts(data.as_ptr(), size),
                None => &[],
            })
        }
    }

    /// Writes the .mnn model, and large arrays outside of it to the path with `.weight` behind it.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the handle is live; the path lives during the call.
        check(unsafe { sys::mnn_onnx_result_save(self.handle.as_ptr(), path.as_ptr()) })
    }

    /// Loads the .mnn model in place, without a copy.
    pub fn load(self, options: InterpreterOptions) -> Result<Interpreter> {
        self.data()?;
        let shared = Arc::new(self);
        let options = if shared.weights()?.is_empty() {
            options
        } else {
            options.external_weight_bytes(Weight(shared.clone()))
        };
        options.load_owner(Net(shared))
    }
}

struct Net(Arc<Converted>);
impl AsRef<[u8]> for Net {
    fn as_ref(&self) -> &[u8] {
        self.0.data().unwrap_or_default()
    }
}

struct Weight(Arc<Converted>);
impl AsRef<[u8]> for Weight {
    fn as_ref(&self) -> &[u8] {
        self.0.weights().unwrap_or_default()
    }
}

impl Interpreter {
    /// Converts an ONNX model in a file, in memory and with the defaults, and loads the result.
    /// Fails with [`ErrorKind::NotSupported`] where nodes cannot be expressed; a [`Conversion`] lists them.
    pub fn from_onnx(path: impl AsRef<Path>) -> Result<Self> {
        Conversion::new()
            .convert_file(path)?
            .load(InterpreterOptions::new())
    }
}
