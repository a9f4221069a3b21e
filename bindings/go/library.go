// The library: its version, backends and devices.

package mnn

// #include "shims.h"
import "C"

// Version returns the version of the library in use, "major.minor.patch".
func Version() string { return C.GoString(C.mnn_version()) }

// ABIVersion returns the version of its binary interface, major * 65536 + minor.
func ABIVersion() uint32 { return uint32(C.mnn_abi_version()) }

// A Backend is compiled into the library; [Devices] says whether it has a device.
type Backend struct {
	Name        string // e.g. "cpu"
	ForwardType ForwardType
}

// Backends lists the backends that are compiled in.
func Backends() ([]Backend, error) {
	const op = "Backends"
	result := C.go_mnn_backend_count()
	if err := check(op, result); err != nil {
		return nil, err
	}
	backends := make([]Backend, int(result.number))
	for i := range backends {
		name := C.go_mnn_backend_name(C.size_t(i))
		if err := check(op, name); err != nil {
			return nil, err
		}
		forward := C.go_mnn_backend_forward_type(C.size_t(i))
		if err := check(op, forward); err != nil {
			return nil, err
		}
		backends[i] = Backend{C.GoString(name.text), ForwardType(forward.number)}
	}
	return backends, nil
}

// A Device is a device of a backend.
type Device struct {
	Name               string
	Driver             string   // name and version of the driver; "" where it has none
	Kind               string   // the same in every process
	UUID               [16]byte // its largest device-local memory
	MemoryBytes        uint64   // its largest memory of its own
	APIVersion         uint32   // in the driver's own numbering: Vulkan 1.3.0 is 1<<22 | 3<<12
	DriverVersion      uint32   // in the driver's own numbering
	VendorID           uint32   // PCI
	DeviceID           uint32   // PCI
	SubgroupSize       uint32   // invocations that run in step
	SubgroupArithmetic bool     // invocations of a subgroup can add up values among themselves
	FP16Storage        bool     // PrecisionLow stores tensors as fp16
	FP16Arithmetic     bool     // it computes in fp16 (the library does not)
}

// Devices lists the devices of a backend; SessionConfig.Device chooses among them. The CPU has none to choose.
// StatusBackendMissing says that the backend is not built in or finds no device. Loads the drivers unless a session of
// the backend is alive.
func Devices(backend ForwardType) ([]Device, error) {
	const op = "Devices"
	result := C.go_mnn_device_count(C.int32_t(backend))
	if err := check(op, result); err != nil {
		return nil, err
	}
	devices := make([]Device, int(result.number))
	for i := range devices {
		device := C.go_mnn_device_info(C.int32_t(backend), C.size_t(i))
		if err := check(op, device.result); err != nil {
			return nil, err
		}
		info := &device.info
		devices[i] = Device{
			Name:               C.GoString(&info.name[0]),
			Driver:             C.GoString(&info.driver[0]),
			Kind:               C.GoString(&info.kind[0]),
			MemoryBytes:        uint64(info.memory_bytes),
			APIVersion:         uint32(info.api_version),
			DriverVersion:      uint32(info.driver_version),
			VendorID:           uint32(info.vendor_id),
			DeviceID:           uint32(info.device_id),
			SubgroupSize:       uint32(info.subgroup_size),
			SubgroupArithmetic: info.subgroup_arithmetic != 0,
			FP16Storage:        info.fp16_storage != 0,
			FP16Arithmetic:     info.fp16_arithmetic != 0,
		}
		for j, b := range info.uuid {
			devices[i].UUID[j] = byte(b)
		}
	}
	return devices, nil
}
