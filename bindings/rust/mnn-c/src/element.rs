//! Rust types that are elements of tensors.

use crate::codes::ElementType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is an element type of tensors. Every pattern of bits is a value of it.
pub trait Element: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The element type of tensors that hold it.
    const TYPE: ElementType;
}

/// A Rust type whose values are converted to and from the elements of tensors: every [`Element`], `i64`, `f64` and
/// `bool`.
pub trait HostElement: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The number of the type in the C interface.
    const HOST_TYPE: ElementType;
}

/// The bits of an IEEE half precision number (1 sign, 5 exponent, 10 fraction).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16 number: the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bf16(pub u16);

macro_rules! elements {
    ($($rust:ty => $variant:ident,)*) => {
        $(
            impl sealed::Sealed for $rust {}
            impl Element for $rust {
                const TYPE: ElementType = ElementType::$variant;
            }
            impl HostElement for $rust {
                const HOST_TYPE: ElementType = ElementType::$variant;
            }
        )*
    };
}

elements! {
    f32 => Float32,
    i32 => Int32,
    u8 => Uint8,
    i16 => Int16,
    i8 => Int8,
    Bf16 => Bfloat16,
    u16 => Uint16,
    F16 => Float16,
}

macro_rules! host_elements {
    ($($rust:ty => $variant:ident,)*) => {
        $(
            impl sealed::Sealed for $rust {}
            impl HostElement for $rust {
                const HOST_TYPE: ElementType = ElementType::$variant;
            }
        )*
    };
}

host_elements! {
    f64 => Double,
    i64 => Int64,
    bool => Bool,
}
