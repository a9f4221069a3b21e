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
		devices[i] = deviceOf(&device.info)
	}
	return devices, nil
}
