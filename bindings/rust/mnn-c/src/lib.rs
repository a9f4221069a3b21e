//! Runs neural networks stored in the `.mnn` format, on the CPU and on GPUs through Vulkan: a safe interface
//! of libmnn_c.
//!
//! ```
//! use mnn_c::{Format, Interpreter, ScheduleConfig};
//!
//! # fn main() -> mnn_c::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
//! let net = Interpreter::from_file(path)?;
//! let mut session = net.create_session(&ScheduleConfig::new())?;
//! session.input_mut("image")?.write(&[0.5f32; 64], Format::Nchw)?;
//! session.run()?;
//! let scores: Vec<f32> = session.output("scores")?.read(Format::Nchw)?;
//! assert_eq!(scores.len(), 10);
//! # Ok(())
//! # }
//! ```
//!
//! - An [`Interpreter`] holds one model. A [`Session`] is that model prepared for one configuration and one
//!   set of input shapes; any number of sessions share the weights of their interpreter. A [`Tensor`] is an
//!   input or an output of a session.
//! - Interpreters and sessions may be dropped in any order.
//! - Functions that take `&self` may be called from any number of threads at once, those with `&mut self` from one at
//!   a time: the compiler enforces what the C interface reports as [`ErrorKind::Busy`]. Sessions run at the same
//!   time.
//! - An [`Error`] carries a kind, the number of the C interface and a sentence with the names and numbers at
//!   fault.
//! - A [`Runtime`] shares threads, memory and a device among sessions.
//! - [`Session::submit`] begins a run and returns a [`Pending`] to wait for it.
//! - A [`CancelToken`] ends loading, session creation, a resize or a run from any thread.
//! - [`Interpreter::add_operator`] runs nodes that the library does not know by an [`Operator`] of the host.
//! - [`Runtime::add_backend`] has sessions compute operators of the library by a [`HostBackend`].
//! - A panic in a closure that the library calls is raised again in the caller when the library's call is over; in a
//!   closure around operators, and in an operator, it ends the run.
//!
//! An [`Error`] converts into a `std::io::Error` of the nearest kind.
//!
//! The feature `ndarray` adds `Tensor::read_array` and `TensorMut::write_array`, the feature `image` the module
//! `image`: pictures as inputs, the feature `onnx` the module `onnx`: ONNX models. The feature `vendored` compiles
//! libmnn_c with CMake and links it in; without it the library is found through pkg-config.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(feature = "ndarray")]
mod array;
mod backend;
mod bind;
mod call;
mod cancel;
mod codes;
mod config;
mod device;
mod device_buffer;
mod element;
mod enums;
mod error;
#[cfg(feature = "image")]
pub mod image;
mod interpreter;
mod io;
mod library;
mod log;
mod map;
mod mirror;
mod node;
#[cfg(feature = "onnx")]
pub mod onnx;
mod operator;
mod options;
mod panics;
mod properties;
mod run;
mod runtime;
mod runtime_closures;
mod session;
mod session_info;
mod state;
mod submit;
mod tensor;
mod weights;

pub use backend::HostBackend;
pub use cancel::CancelToken;
pub use codes::{
    BufferKind, ElementType, Format, ForwardType, LogLevel, MemoryMode, ModelSource, ModelUsage, OpAction,
    PowerMode, Precision, TensorKind,
};
pub use config::{GpuMode, ScheduleConfig};
pub use device::{calibrate, cpu, devices, CpuInfo, DeviceInfo};
pub use device_buffer::DeviceBuffer;
pub use element::{Bf16, Element, HostElement, F16};
pub use error::{Error, ErrorKind, Result};
pub use interpreter::{InputInfo, Interpreter, ModelOp};
pub use library::{abi_version, backends, version, version_numbers, Backend};
pub use map::{Mapped, MappedMut};
pub use node::{Attribute, HostTensor, HostTensorMut, Node};
pub use operator::{Operator, OutputShape};
pub use options::InterpreterOptions;
pub use properties::{Declaration, ModelProperties, SessionProperties, Statistics, TensorProperties};
pub use run::{OpCall, ResizeOptions, RunOptions};
pub use runtime::{Runtime, RuntimeConfig, VulkanObjects};
pub use runtime_closures::QueueLock;
pub use session::Session;
pub use session_info::{Flops, OpInfo};
pub use state::StateProperties;
pub use submit::{Pending, SubmitOptions};
pub use tensor::{Tensor, TensorMut};

/// The maximum number of dimensions of a tensor.
pub const MAX_RANK: usize = mnn_c_sys::MNN_MAX_RANK as usize;

/// The maximum number of CPU threads of one session.
pub const MAX_THREADS: u32 = mnn_c_sys::MNN_MAX_THREADS as u32;

/// The maximum number of paths of one session.
pub const MAX_PATHS: usize = mnn_c_sys::MNN_MAX_PATHS as usize;

// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
