// Inputs and outputs in buffers of a device.

package mnn

// #include "shims.h"
import "C"

import "context"

// A DeviceBuffer is a buffer of the device that a session runs on, or a part of one: the elements of a tensor,
// row-major in the order of its format. See [BindInputBuffer].
type DeviceBuffer struct {
	Kind        BufferKind // says which of the other fields are used
	Allocate    bool       // the session makes a buffer of that kind, and the other fields are not read
	Buffer      uint64     // BufferVulkan: the VkBuffer
	Offset      uint64     // bytes before the first element, in the buffer or, with a file descriptor, in its memory
	Bytes       uint64     // usable bytes from Offset on: at least those of the tensor
	MemoryBytes uint64     // BufferOpaqueFD: the allocationSize of the memory
	MemoryType  uint32     // BufferOpaqueFD: the memoryTypeIndex with which the memory was allocated

	// FD is the descriptor of BufferOpaqueFD. A call that binds it leaves it to the caller; Tensor.DeviceBuffer returns a
	// new one, which the caller closes.
	FD int32

	Memory       uint64 // set by Tensor.DeviceBuffer only: the VkDeviceMemory; 0 where it is not known
	MemoryOffset uint64 // set by Tensor.DeviceBuffer only: bytes before the first element in that memory
}

// BindInputBuffer makes runs read an input from a buffer of the session's device, so that its contents do not pass
// through the host. A nil buffer releases the input. mnn_c.h has the rules ("Buffers of a device"): a VkBuffer must
// live, with its memory, as long as it is bound, and commands submitted to the session's queue before a run are
// complete when it reads the buffer. It returns StatusNotSupported on the CPU and for a buffer that the device cannot
// share, and StatusBufferTooSmall for one that is smaller than the tensor.
//
// The binding ends in the same ways as a binding of [BindInput]. A tensor in such a buffer can be neither written nor read
// (StatusBadState).
func BindInputBuffer(tensor *Tensor, buffer *DeviceBuffer) error {
	return bindDevice("BindInputBuffer", tensor, buffer,
		func(session C.mnn_go_session, tensor C.mnn_go_tensor, buffer *C.mnn_device_buffer_t) C.mnn_go_result {
			return C.go_mnn_session_bind_input_buffer(session, tensor, buffer)
		})
}

// BindOutputBuffer makes runs write an output into a buffer of the session's device, under the rules of
// [BindInputBuffer]. Commands submitted to the session's queue after a run see its results.
func BindOutputBuffer(tensor *Tensor, buffer *DeviceBuffer) error {
	return bindDevice("BindOutputBuffer", tensor, buffer,
		func(session C.mnn_go_session, tensor C.mnn_go_tensor, buffer *C.mnn_device_buffer_t) C.mnn_go_result {
			return C.go_mnn_session_bind_output_buffer(session, tensor, buffer)
		})
}

func bindDevice(op string, tensor *Tensor, buffer *DeviceBuffer,
	call func(C.mnn_go_session, C.mnn_go_tensor, *C.mnn_device_buffer_t) C.mnn_go_result) error {
	if tensor == nil {
		return closedError(op, "tensor")
	}
	if tensor.shown != nil {
		return failf(op, StatusBadState, "a callback's tensor cannot be bound")
	}
	session := tensor.session
	if err := session.lock(context.Background(), op); err != nil {
		return err
	}
	defer session.leave(true)
	var given *C.mnn_device_buffer_t
	if buffer != nil {
		given = new(C.mnn_device_buffer_t)
		if err := check(op, C.go_mnn_device_buffer_init(given)); err != nil {
			return err
		}
		given.kind = C.int32_t(buffer.Kind)
		if buffer.Allocate {
			given.allocate = 1
		}
		given.buffer = C.uint64_t(buffer.Buffer)
		given.offset = C.uint64_t(buffer.Offset)
		given.bytes = C.uint64_t(buffer.Bytes)
		given.memory_bytes = C.uint64_t(buffer.MemoryBytes)
		given.memory_type = C.uint32_t(buffer.MemoryType)
		given.fd = C.int32_t(buffer.FD)
	}
	if err := check(op, call(session.handle, tensor.handle, given)); err != nil {
		return err
	}
	session.bound[tensor.handle].count(-1)
	delete(session.bound, tensor.handle)
	return nil
}

// DeviceBuffer returns the place of the tensor on the device: the buffer that it is bound to or, for an output that is
// not bound, the session's buffer with its contents after a run, until the next resize, trim or binding. It returns
// StatusBadState where the tensor is in the host's memory, and StatusNotSupported like [BindInputBuffer].
func (t *Tensor) DeviceBuffer(kind BufferKind) (DeviceBuffer, error) {
	const op = "Tensor.DeviceBuffer"
	mine, err := t.enter(op)
	if err != nil {
		return DeviceBuffer{}, err
	}
	defer t.session.leave(mine)
	found := C.go_mnn_tensor_device_buffer(t.handle, C.int32_t(kind))
	if err := check(op, found.result); err != nil {
		return DeviceBuffer{}, err
	}
	return DeviceBuffer{
		Kind:         BufferKind(found.info.kind),
		Buffer:       uint64(found.info.buffer),
		Offset:       uint64(found.info.offset),
		Bytes:        uint64(found.info.bytes),
		MemoryBytes:  uint64(found.info.memory_bytes),
		MemoryType:   uint32(found.info.memory_type),
		FD:           int32(found.info.fd),
		Memory:       uint64(found.info.memory),
		MemoryOffset: uint64(found.info.memory_offset),
	}, nil
}
