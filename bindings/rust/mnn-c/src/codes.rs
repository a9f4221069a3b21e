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
    };
}
pub(crate) use codes;

codes! {
    /// The type of a tensor's elements.
    ElementType {
        /// `f32`.
        Float32 = MNN_TYPE_FLOAT32,
        /// `f64`; only for values in Rust, no tensor has it.
        Double = MNN_TYPE_DOUBLE,
        /// `i32`; also where a model declares 64-bit integers or booleans.
        Int32 = MNN_TYPE_INT32,
        /// `u8`.
        Uint8 = MNN_TYPE_UINT8,
        /// `i16`.
        Int16 = MNN_TYPE_INT16,
        /// `i8`.
        Int8 = MNN_TYPE_INT8,
        /// `i64`; only for values in Rust, no tensor has it.
        Int64 = MNN_TYPE_INT64,
        /// `bool`; only for values in Rust, no tensor has it.
        Bool = MNN_TYPE_BOOL,
        /// [`Bf16`](crate::Bf16).
        Bfloat16 = MNN_TYPE_BFLOAT16,
        /// `u16`.
        Uint16 = MNN_TYPE_UINT16,
        /// [`F16`](crate::F16).
        Float16 = MNN_TYPE_FLOAT16,
    }
}

codes! {
    /// The order of a tensor's elements. It matters for a rank of 3 and more only.
    Format {
        /// Batch, channel, height, width: dimension 1 is the channel.
        Nchw = MNN_FORMAT_NCHW,
        /// Batch, height, width, channel: the last dimension is the channel.
        Nhwc = MNN_FORMAT_NHWC,
        /// Channels in groups of four, the last one filled up with zeros: element (n, c, s) of N x C x S lies
        /// at ((c / 4 * N + n) * S + s) * 4 + c % 4.
        Nc4hw4 = MNN_FORMAT_NC4HW4,
    }
}

codes! {
    /// Where a session runs.
    ForwardType {
        /// The CPU.
        Cpu = MNN_FORWARD_CPU,
        /// The first available backend, GPUs before the CPU.
        Auto = MNN_FORWARD_AUTO,
        /// A GPU through Vulkan.
        Vulkan = MNN_FORWARD_VULKAN,
    }
}

codes! {
    /// How exactly a session computes.
    Precision {
        /// The default: fp32.
        Normal = MNN_PRECISION_NORMAL,
        /// fp32.
        High = MNN_PRECISION_HIGH,
        /// Tensors and weights stored as fp16 where the device can.
        Low = MNN_PRECISION_LOW,
        /// The same as `Low`.
        LowBf16 = MNN_PRECISION_LOW_BF16,
    }
}

codes! {
    /// How a session keeps weights in memory.
    MemoryMode {
        /// The default.
        Normal = MNN_MEMORY_NORMAL,
        /// More memory, if that is faster.
        High = MNN_MEMORY_HIGH,
        /// Less memory.
        Low = MNN_MEMORY_LOW,
    }
}

codes! {
    /// The cores on which workers compute, where the kernel reports that cores differ.
    PowerMode {
        /// The system's choice.
        Normal = MNN_POWER_NORMAL,
        /// The fastest kinds of cores that are as many together as the threads.
        High = MNN_POWER_HIGH,
        /// The slowest kinds of cores.
        Low = MNN_POWER_LOW,
    }
}

codes! {
    /// How a buffer of a device is named; see [`DeviceBuffer`](crate::DeviceBuffer).
    BufferKind {
        /// By the `VkBuffer` of the session's `VkDevice`, which is the caller's.
        Vulkan = MNN_BUFFER_VULKAN,
        /// By an opaque file descriptor of memory that something else on the same GPU uses, too.
        OpaqueFd = MNN_BUFFER_OPAQUE_FD,
    }
}

codes! {
    /// How important a message is, from quiet to talkative.
    LogLevel {
        /// The library's choice: warnings.
        Default = MNN_LOG_DEFAULT,
        /// Errors.
        Error = MNN_LOG_ERROR,
        /// Errors and warnings.
        Warning = MNN_LOG_WARNING,
        /// In addition, messages that may be worth knowing.
        Info = MNN_LOG_INFO,
        /// Everything.
        Debug = MNN_LOG_DEBUG,
    }
}

codes! {
    /// The result of a closure of [`RunOptions`](crate::RunOptions).
    OpAction {
        /// Continue.
        Run = MNN_OP_RUN,
        /// From `before` only: skip this operator; its outputs keep the contents of their memory. Not for operators on
        /// a GPU ([`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported)).
        Skip = MNN_OP_SKIP,
        /// End the run with [`ErrorKind::CallbackStop`](crate::ErrorKind::CallbackStop).
        Stop = MNN_OP_STOP,
    }
}

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
