//! Devices of a backend.

use crate::call::{check, get, get_report};
use crate::cancel::CancelToken;
use crate::codes::ForwardType;
use crate::error::Result;
use mnn_c_sys as sys;
use std::mem::{size_of, MaybeUninit};
use std::os::raw::c_char;
use std::ptr::null_mut;

/// A device of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its name.
    pub name: String,
    /// Name and version of the driver; empty where it has none.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` (a software driver) or `other`.
    pub kind: String,
    /// The UUID, the same in every process.
    pub uuid: [u8; 16],
    /// Its largest device-local memory.
    pub memory_bytes: u64,
    /// The Vulkan version in the driver's numbering: Vulkan 1.3.0 is `1 << 22 | 3 << 12`.
    pub api_version: u32,
    /// The driver's version in its own numbering.
    pub driver_version: u32,
    /// The PCI number of the vendor.
    pub vendor_id: u32,
    /// The PCI number of the device.
    pub device_id: u32,
    /// Invocations that run in step.
    pub subgroup_size: u32,
    /// Whether the invocations of a subgroup can add up values among themselves.
    pub subgroup_arithmetic: bool,
    /// Whether [`Precision::Low`](crate::Precision::Low) stores tensors as fp16.
    pub fp16_storage: bool,
    /// Whether it computes in fp16.
    pub fp16_arithmetic: bool,
}

/// The devices of a backend on this machine, in the order of the indices that
/// [`ScheduleConfig::device`](crate::ScheduleConfig::device) takes. The CPU has none to choose.
///
/// Fails with [`ErrorKind::BackendMissing`](crate::ErrorKind::BackendMissing) when the backend is not built
/// in or finds no device; the sentence says what is missing. Loads the drivers unless a session of the
/// backend is alive.
pub fn devices(backend: ForwardType) -> Result<Vec<DeviceInfo>> {
    // SAFETY: an out-pointer to a value.
    let count = get(|count| unsafe { sys::mnn_device_count(backend.code(), count) })?;
    (0..count).map(|index| device(backend, index)).collect()
}

fn device(backend: ForwardType, index: usize) -> Result<DeviceInfo> {
    // SAFETY: numbers and arrays of numbers; all zeros are a value.
    let mut info: sys::mnn_device_properties_t = unsafe { MaybeUninit::zeroed().assume_init() };
    info.struct_size = size_of::<sys::mnn_device_properties_t>();
    // SAFETY: the struct holds its size.
    check(unsafe { sys::mnn_device_info(backend.code(), index, &mut info) })?;
    Ok(DeviceInfo {
        name: text(&info.name),
        driver: text(&info.driver),
        kind: text(&info.kind),
        uuid: info.uuid,
        memory_bytes: info.memory_bytes,
        api_version: info.api_version,
        driver_version: info.driver_version,
        vendor_id: info.vendor_id,
        device_id: info.device_id,
        subgroup_size: info.subgroup_size,
        subgroup_arithmetic: info.subgroup_arithmetic != 0,
        fp16_storage: info.fp16_storage != 0,
        fp16_arithmetic: info.fp16_arithmetic != 0,
    })
}

/// The processor of this machine. `None` of a feature means that it is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuInfo {
    /// The values that [`ScheduleConfig::cpu_isa`](crate::ScheduleConfig::cpu_isa) accepts here, best first.
    pub isas: Vec<String>,
    /// The features that the library looks for.
    pub features: String,
    /// Cores that the system runs; 0 when it does not report them.
    pub logical_cores: u32,
    /// Whether it adds up products of int8 in one instruction.
    pub int8_products: Option<bool>,
    /// Whether it adds up products of bf16: [`Precision::Low`](crate::Precision::Low) uses them.
    pub bf16_products: Option<bool>,
    /// Whether it computes in fp16: on Arm [`Precision::Low`](crate::Precision::Low) uses it where there are no
    /// products of bf16.
    pub fp16_arithmetic: Option<bool>,
    /// The first level data cache of a core, in bytes.
    pub l1_data_bytes: Option<u64>,
    /// The second level cache of a core, in bytes.
    pub l2_bytes: Option<u64>,
    /// The core whose costs choose between algorithms, this one or a similar one, unless a
    /// [`RuntimeConfig`](crate::RuntimeConfig) has its own costs.
    pub cost_record: String,
}

/// Describes the processor.
///
/// ```
/// assert!(!mnn_c::cpu()?.isas.is_empty());
/// # Ok::<(), mnn_c::Error>(())
/// ```
pub fn cpu() -> Result<CpuInfo> {
    // SAFETY: numbers and arrays of numbers; all zeros are a value.
    let mut info: sys::mnn_cpu_properties_t = unsafe { MaybeUninit::zeroed().assume_init() };
    info.struct_size = size_of::<sys::mnn_cpu_properties_t>();
    // SAFETY: the struct holds its size.
    check(unsafe { sys::mnn_cpu_info(&mut info) })?;
    let bytes = |size: i64| u64::try_from(size).ok().filter(|&size| size > 0);
    let known = |feature: i32| Some(feature == 1).filter(|_| feature >= 0);
    Ok(CpuInfo {
        isas: text(&info.isas).split(' ').map(String::from).collect(),
        features: text(&info.features),
        logical_cores: info.logical_cores.max(0) as u32,
        int8_products: known(info.int8_products),
        bf16_products: known(info.bf16_products),
        fp16_arithmetic: known(info.fp16_arithmetic),
        l1_data_bytes: bytes(info.l1_data_bytes),
        l2_bytes: bytes(info.l2_bytes),
        cost_record: text(&info.cost_record),
    })
}

/// Measures the costs with which the library chooses between algorithms on this CPU, for
/// [`RuntimeConfig::cpu_costs`](crate::RuntimeConfig::cpu_costs): a text. `isa` names the instruction set to measure,
/// [`None`] the best. It takes a second, in which nothing else should run on the machine.
pub fn calibrate(isa: Option<&str>, cancel: Option<&CancelToken>) -> Result<String> {
    let cancel = cancel.map_or(null_mut(), CancelToken::as_ptr);
    // SAFETY: the library keeps to the capacity.
    unsafe {
        get_report(isa.unwrap_or(""), |isa, buffer, capacity, size| {
            sys::mnn_cpu_calibrate(isa, cancel, buffer, capacity, size)
        })
    }
}

/// Up to the terminating zero.
fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
