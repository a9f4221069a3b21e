//! Devices of a backend.

use crate::call::{filled, get, get_report};
use crate::cancel::CancelToken;
use crate::codes::ForwardType;
use crate::error::Result;
use crate::mirror::mirror;
use mnn_c_sys as sys;
use std::ptr::null_mut;

mirror! {
    /// A device of a backend.
    #[derive(Clone, Debug, PartialEq, Eq)]
    DeviceInfo = mnn_device_properties_t {
        /// Its name.
        name: String,
        /// Name and version of the driver; empty where it has none.
        driver: String,
        /// `discrete`, `integrated`, `virtual`, `cpu` (a software driver) or `other`.
        kind: String,
        /// The UUID, the same in every process.
        uuid: [u8; 16],
        /// Its largest device-local memory.
        memory_bytes: u64,
        /// The Vulkan version in the driver's numbering: Vulkan 1.3.0 is `1 << 22 | 3 << 12`.
        api_version: u32,
        /// The driver's version in its own numbering.
        driver_version: u32,
        /// The PCI number of the vendor.
        vendor_id: u32,
        /// The PCI number of the device.
        device_id: u32,
        /// The number of invocations of a shader that run in step.
        subgroup_size: u32,
        /// Whether the invocations of a subgroup can add up values among themselves.
        subgroup_arithmetic: bool,
        /// Whether [`Precision::Low`](crate::Precision::Low) stores tensors as fp16.
        fp16_storage: bool,
        /// Whether the device can compute in fp16, which this library does not use.
        fp16_arithmetic: bool,
    }
}

/// The devices of a backend on this machine, in the order of the indices that
/// [`ScheduleConfig::device`](crate::ScheduleConfig::device) takes. The CPU has none to choose.
///
/// Fails with [`ErrorKind::BackendMissing`](crate::ErrorKind::BackendMissing) when the backend is not built
/// in or finds no device; the sentence says what is missing. The first call loads the drivers; later ones return the
/// last result unless something that determines the devices has changed.
pub fn devices(backend: ForwardType) -> Result<Vec<DeviceInfo>> {
    // SAFETY: the out-pointer points to a value.
    let count = get(|count| unsafe { sys::mnn_device_count(backend.code(), count) })?;
    (0..count).map(|index| device(backend, index)).collect()
}

fn device(backend: ForwardType, index: usize) -> Result<DeviceInfo> {
    // SAFETY: the struct has no strings of the library.
    unsafe { filled(|info| sys::mnn_device_info(backend.code(), index, info)) }
}

mirror! {
    /// The processor of this machine. A feature is `None` where it is not known whether the processor has it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    CpuInfo = mnn_cpu_properties_t {
        /// The values that [`ScheduleConfig::cpu_isa`](crate::ScheduleConfig::cpu_isa) accepts here, best first.
        isas: Vec<String>,
        /// The features that the library looks for.
        features: String,
        /// Cores that the system runs; 0 when it does not report them.
        logical_cores: u32,
        /// Whether it adds up products of int8 in one instruction.
        int8_products: Option<bool>,
        /// Whether it adds up products of bf16: [`Precision::Low`](crate::Precision::Low) uses them.
        bf16_products: Option<bool>,
        /// Whether it computes in fp16: on Arm [`Precision::Low`](crate::Precision::Low) uses it where there are no
        /// products of bf16.
        fp16_arithmetic: Option<bool>,
        /// The first level data cache of a core, in bytes.
        l1_data_bytes: Option<u64>,
        /// The second level cache of a core, in bytes.
        l2_bytes: Option<u64>,
        /// The core whose costs choose between algorithms, this one or a similar one, unless a
        /// [`RuntimeConfig`](crate::RuntimeConfig) has its own costs.
        cost_record: String,
    }
}

/// Describes the processor.
///
/// ```
/// assert!(!mnn_c::cpu()?.isas.is_empty());
/// # Ok::<(), mnn_c::Error>(())
/// ```
pub fn cpu() -> Result<CpuInfo> {
    // SAFETY: the struct has no strings of the library.
    unsafe { filled(|info| sys::mnn_cpu_info(info)) }
}

/// Measures the costs by which the library chooses between algorithms on this CPU, and returns them as text for
/// [`RuntimeConfig::cpu_costs`](crate::RuntimeConfig::cpu_costs). `isa` names the instruction set to measure; [`None`]
/// is the best one. It takes a second, in which nothing else should run on the machine.
pub fn calibrate(isa: Option<&str>, cancel: Option<&CancelToken>) -> Result<String> {
    let cancel = cancel.map_or(null_mut(), CancelToken::as_ptr);
    // SAFETY: the library writes no more bytes than the capacity.
    unsafe {
        get_report(isa.unwrap_or(""), |isa, buffer, capacity, size| {
            sys::mnn_cpu_calibrate(isa, cancel, buffer, capacity, size)
        })
    }
}
