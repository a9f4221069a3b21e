//! Every function of the header, with the first sentence of its comment.
//!
//! The rest of the comment is part of the contract.

mod interpreter;
mod library;
mod runtime;
mod session;
mod tensor;

pub use interpreter::*;
pub use library::*;
pub use runtime::*;
pub use session::*;
pub use tensor::*;
