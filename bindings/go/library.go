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
	return counted(op, C.go_mnn_backend_count(), func(i C.size_t) (Backend, error) {
		name, err := textOf(op, C.go_mnn_backend_name(i))
		if err != nil {
			return Backend{}, err
		}
		forward := C.go_mnn_backend_forward_type(i)
		return Backend{name, ForwardType(forward.number)}, check(op, forward)
	})
}

// Devices lists the devices of a backend; SessionConfig.Device chooses among them. The CPU has none to choose.
// StatusBackendMissing says that the backend is not built in or finds no device. The first call loads the drivers; later
// ones return its result until something that determines the devices changes.
func Devices(backend ForwardType) ([]Device, error) {
	const op = "Devices"
	return counted(op, C.go_mnn_device_count(C.int32_t(backend)), func(i C.size_t) (Device, error) {
		device := C.go_mnn_device_info(C.int32_t(backend), i)
		return deviceOf(&device.info), check(op, device.result)
	})
}
