// Inputs and outputs in memory of the caller.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"math"
	"sync"
	"unsafe"
)

// A Buffer is memory outside of Go's heap, which a session may use between calls: see [BindInput].
type Buffer[T Element] struct {
	memory *nativeMemory
	data   []T
}

// nativeMemory is the memory of a Buffer, with the number of tensors that are bound to it.
type nativeMemory struct {
	mutex sync.Mutex
	start unsafe.Pointer
	owned bool // allocated here
	bound int
}

func (m *nativeMemory) count(by int) {
	if m != nil {
		m.mutex.Lock()
		m.bound += by
		m.mutex.Unlock()
	}
}

// NewBuffer allocates memory for elements, all zero. Free releases it; the garbage collector does not.
func NewBuffer[T Element](count int) (*Buffer[T], error) {
	const op = "NewBuffer"
	var zero T
	size := int(unsafe.Sizeof(zero))
	if count < 0 || count > math.MaxInt/size {
		return nil, failf(op, StatusBadRange, "the buffer has %d elements, which is negative or more than memory can have", count)
	}
	start := C.calloc(C.size_t(count)+1, C.size_t(size))
	if start == nil {
		return nil, failf(op, StatusOutOfMemory, "there is no memory for %d elements", count)
	}
	return &Buffer[T]{&nativeMemory{start: start, owned: true}, unsafe.Slice((*T)(start), count)}, nil
}

// BufferAt returns a buffer over memory that something else owns, for example a mapped file, but not Go's heap. The
// memory must live as long as the buffer is bound.
func BufferAt[T Element](memory unsafe.Pointer, count int) *Buffer[T] {
	return &Buffer[T]{&nativeMemory{start: memory}, unsafe.Slice((*T)(memory), count)}
}

// Data returns the elements, until Free. They belong to the session while it runs.
func (b *Buffer[T]) Data() []T {
	if b == nil {
		return nil
	}
	return b.data
}

// Free releases the memory; no slice of it may be used any more. It returns StatusBusy while a tensor is bound to the
// buffer. Another binding of the tensor, or the end of its session, ends the binding.
func (b *Buffer[T]) Free() error {
	if b == nil || b.memory == nil {
		return nil
	}
	b.memory.mutex.Lock()
	defer b.memory.mutex.Unlock()
	if b.memory.bound > 0 {
		return failf("Buffer.Free", StatusBusy, "%d tensors are bound to the buffer", b.memory.bound)
	}
	if b.memory.owned {
		C.free(b.memory.start)
	}
	b.memory.start, b.memory.owned, b.data = nil, false, nil
	return nil
}

// BindInput makes runs read an input from a buffer: in place where the format is the tensor's own, with one copy
// otherwise. T must be the tensor's type (StatusBadType) and the buffer must have exactly its elements
// (StatusInputData). A nil buffer releases the input, whose contents are undefined then.
//
// The binding lasts until the next one, or until a resize changes the size of the tensor: then runs fail with
// StatusBadState until the tensor is bound anew or released. A bound input cannot be written (StatusBadState).
func BindInput[T Element](tensor *Tensor, buffer *Buffer[T], format Format) error {
	return bind("BindInput", tensor, buffer, format,
		func(session C.mnn_go_session, tensor C.mnn_go_tensor, data *C.uint8_t, bytes C.size_t) C.mnn_go_result {
			return C.go_mnn_session_bind_input(session, tensor, data, bytes, C.int32_t(format))
		})
}

// BindOutput makes runs write an output into a buffer, under the rules of [BindInput]. The buffer has at least the
// elements of the tensor (StatusBufferTooSmall; where the number depends on contents, the run fails). A nil buffer
// releases the output, which then has no values before the next run.
func BindOutput[T Element](tensor *Tensor, buffer *Buffer[T], format Format) error {
	return bind("BindOutput", tensor, buffer, format,
		func(session C.mnn_go_session, tensor C.mnn_go_tensor, data *C.uint8_t, bytes C.size_t) C.mnn_go_result {
			return C.go_mnn_session_bind_output(session, tensor, data, bytes, C.int32_t(format))
		})
}

func bind[T Element](op string, tensor *Tensor, buffer *Buffer[T], format Format,
	call func(C.mnn_go_session, C.mnn_go_tensor, *C.uint8_t, C.size_t) C.mnn_go_result) error {
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
	var memory *nativeMemory
	var start unsafe.Pointer
	if buffer != nil {
		memory = buffer.memory
		if memory == nil {
			return failf(op, StatusBadState, "the buffer has no memory")
		}
		memory.count(1) // so that another goroutine does not free it meanwhile
		start = memory.start
		if start == nil {
			memory.count(-1)
			return failf(op, StatusBadState, "the buffer is freed, or has no memory")
		}
		if err := tensor.checkKnownType(op, elementType[T]()); err != nil {
			memory.count(-1)
			return err
		}
	}
	bytes := C.size_t(len(bytesOf(buffer.Data())))
	if err := check(op, call(session.handle, tensor.handle, (*C.uint8_t)(start), bytes)); err != nil {
		memory.count(-1)
		return err
	}
	if session.bound == nil {
		session.bound = make(map[C.mnn_go_tensor]*nativeMemory)
	}
	session.bound[tensor.handle].count(-1)
	session.bound[tensor.handle] = memory
	return nil
}

// checkKnownType is checkType where the type is known: the type of an output may be known only after a run.
func (t *Tensor) checkKnownType(op string, wanted ElementType) error {
	tensor := C.go_mnn_tensor_info(t.handle)
	if err := check(op, tensor.result); err == nil {
		return t.checkType(op, wanted)
	}
	return nil
}

// releaseAll is called at the end of a session.
func (s *Session) releaseAll() {
	for _, memory := range s.bound {
		memory.count(-1)
	}
	s.bound = nil
}
