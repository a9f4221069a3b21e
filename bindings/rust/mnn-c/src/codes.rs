//! Numbers of the C interface as enumerations. A number that this version does not know is kept.

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A number that this version of the crate does not know.
            Other(i32),
        }

        impl $name {
            /// From the number of the C interface.
            pub const fn from_code(code: i32) -> Self {
                match code {
                    $(mnn_c_sys::$code => Self::$variant,)*
                    other => Self::Other(other),
                }
            }

            /// The number of the C interface.
            pub const fn code(self) -> i32 {
                match self {
                    $(Self::$variant => mnn_c_sys::$code,)*
                    Self::Other(code) => code,
                }
            }
        }

        impl crate::mirror::FromC<i32> for $name {
            unsafe fn from_c(code: &i32) -> Self {
                Self::from_code(*code)
            }
        }
    };
}
pub(crate) use codes;

pub use crate::enums::*;

impl ElementType {
    /// The bytes of an element; 0 for a type that this version does not know.
    pub fn size(self) -> usize {
        match self {
            Self::Double | Self::Int64 => 8,
            Self::Float32 | Self::Int32 => 4,
            Self::Int16 | Self::Uint16 | Self::Bfloat16 | Self::Float16 => 2,
            Self::Uint8 | Self::Int8 | Self::Bool => 1,
            _ => 0,
        }
    }
}
