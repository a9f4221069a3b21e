// Backends of the host.

package mnn

// #include "shims.h"
import "C"

import "runtime/cgo"

// A HostBackend computes operators of the library in sessions of a runtime to which it was added; the CPU computes the
// others. It sees the nodes of the model: those that it computes are not fused, split or replaced. The library
// determines shapes and types.
//
// Its functions are called like those of an [Operator].
type HostBackend struct {
	// Supports says whether the backend computes a node over tensors of these shapes and types. nil means that it does,
	// StatusNotSupported that it does not, for the reason in the error; another error fails the planning. Inputs have
	// values where these are already known. Not nil.
	Supports func(call *OperatorCall) error

	// Prepare makes the State of a node that the backend computes. Constant inputs have values. May be nil.
	Prepare func(call *OperatorCall) error

	// Compute writes all elements of every output, in each run. Not nil.
	Compute func(call *OperatorCall) error
}

func (b *HostBackend) function(which C.int32_t) func(*OperatorCall) error {
	switch which {
	case backendSupports:
		return b.Supports
	case operatorPrepare:
		return b.Prepare
	}
	return b.Compute
}

// AddBackend adds a backend for sessions that are created afterwards, and returns the forward type for their
// configuration. It returns StatusInvalidValue without Supports or Compute, and for the name of another backend of this
// runtime or of the library.
func (r *Runtime) AddBackend(name string, backend HostBackend) (ForwardType, error) {
	const op = "Runtime.AddBackend"
	if backend.Supports == nil || backend.Compute == nil {
		return 0, failf(op, StatusInvalidValue, "the backend %q has no Supports or no Compute", name)
	}
	var arena cArena
	defer arena.free()
	cName, err := arena.textOrEmpty(op, "name", name)
	if err != nil {
		return 0, err
	}
	if err := r.enter(op); err != nil {
		return 0, err
	}
	defer r.leave()
	id := cgo.NewHandle(&backend)
	r.hasBackends.Store(true) // before a session can find the backend
	result := C.mnn_go_runtime_add_backend(r.handle, cName, C.uintptr_t(id), backend.Prepare != nil)
	if err := check(op, result); err != nil {
		id.Delete()
		return 0, err
	}
	return ForwardType(result.number), nil
}
