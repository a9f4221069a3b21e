// Copies between slices and tensors.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"unsafe"
)

// Float16 holds the bits of an IEEE 754 half.
type Float16 uint16

// BFloat16 holds the bits of a bfloat16: the upper half of a float32.
type BFloat16 uint16

// Element lists the Go types of elements.
type Element interface {
	float32 | int32 | uint8 | int16 | int8 | BFloat16 | uint16 | Float16
}

// HostElement lists the Go types whose values are converted to and from the elements of tensors.
type HostElement interface {
	Element | int64 | float64 | bool
}

func elementType[T HostElement]() ElementType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return TypeFloat32
	case int32:
		return TypeInt32
	case uint8:
		return TypeUint8
	case int16:
		return TypeInt16
	case int8:
		return TypeInt8
	case BFloat16:
		return TypeBFloat16
	case uint16:
		return TypeUint16
	case int64:
		return TypeInt64
	case float64:
		return TypeFloat64
	case bool:
		return TypeBool
	default:
		return TypeFloat16
	}
}

// bytesOf shows the memory of a slice as bytes.
func bytesOf[T HostElement](data []T) []byte {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
}

// Write copies data into an input. T must be the tensor's type (StatusBadType) and data must have exactly the elements
// of the tensor in the format (StatusInputData). Where the format differs from the tensor's own, data has the tensor's
// shape with its channel dimension moved.
func Write[T Element](tensor *Tensor, data []T, format Format) error {
	return tensor.write("Write", elementType[T](), bytesOf(data), format)
}

// Read returns a copy of an output after a run, or of an input, in a format. T must be the tensor's type
// (StatusBadType).
func Read[T Element](tensor *Tensor, format Format) ([]T, error) {
	var data []T
	err := tensor.read("Read", elementType[T](), format, func(size int) ([]byte, error) {
		var zero T
		data = make([]T, size/int(unsafe.Sizeof(zero)))
		return bytesOf(data), nil
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// ReadInto copies a tensor like Read into a slice of exactly its size (StatusBufferTooSmall, StatusBadRange).
func ReadInto[T Element](tensor *Tensor, data []T, format Format) error {
	return tensor.read("ReadInto", elementType[T](), format, exactly("ReadInto", bytesOf(data)))
}

// WriteAs converts data to the tensor's type and copies it into an input. It returns StatusInputData when data does
// not have exactly the elements of the tensor, or when a value does not fit: an integer out of range, a fraction or a
// NaN for an integer, a finite number that would be infinite.
func WriteAs[T HostElement](tensor *Tensor, data []T, format Format) error {
	const op = "WriteAs"
	return tensor.change(op, func() C.mnn_go_result {
		bytes := bytesOf(data)
		return C.go_mnn_tensor_write_as(tensor.handle, start(bytes), C.size_t(len(bytes)),
			C.int32_t(elementType[T]()), C.int32_t(format))
	})
}

// ReadAs returns a copy of a tensor in a format, converted to another type: fractions round to nearest, and every
// number but 0 is true. It returns StatusInputData when an element does not fit the type.
func ReadAs[T HostElement](tensor *Tensor, format Format) ([]T, error) {
	const op = "ReadAs"
	mine, err := tensor.enter(op)
	if err != nil {
		return nil, err
	}
	defer tensor.session.leave(mine)
	size := C.go_mnn_tensor_byte_size(tensor.handle, C.int32_t(format))
	if err := check(op, size); err != nil {
		return nil, err
	}
	kind := C.go_mnn_tensor_info(tensor.handle)
	if err := check(op, kind.result); err != nil {
		return nil, err
	}
	data := make([]T, int(size.number)/ElementType(kind.info._type).size())
	bytes := bytesOf(data)
	result := C.go_mnn_tensor_read_as(tensor.handle, start(bytes), C.size_t(len(bytes)),
		C.int32_t(elementType[T]()), C.int32_t(format))
	if err := check(op, result); err != nil {
		return nil, err
	}
	return data, nil
}

// WriteBytes is Write with the bytes of any element type.
func (t *Tensor) WriteBytes(data []byte, format Format) error {
	return t.write("Tensor.WriteBytes", anyType, data, format)
}

// ReadBytes is ReadInto with the bytes of any element type.
func (t *Tensor) ReadBytes(data []byte, format Format) error {
	const op = "Tensor.ReadBytes"
	return t.read(op, anyType, format, exactly(op, data))
}

const anyType ElementType = 0

// exactly returns a function that gives the buffer where it has exactly the size of the tensor.
func exactly(op string, buffer []byte) func(int) ([]byte, error) {
	return func(size int) ([]byte, error) {
		if len(buffer) < size {
			return nil, failf(op, StatusBufferTooSmall, "the tensor takes %d bytes, the slice has %d", size, len(buffer))
		}
		if len(buffer) > size {
			return nil, failf(op, StatusBadRange, "the tensor takes %d bytes, the slice has %d", size, len(buffer))
		}
		return buffer, nil
	}
}

// checkType must be called inside of a call, because the type may change with a resize.
func (t *Tensor) checkType(op string, wanted ElementType) error {
	if wanted == anyType {
		return nil
	}
	tensor := C.go_mnn_tensor_info(t.handle)
	if err := check(op, tensor.result); err != nil {
		return err
	}
	if has := ElementType(tensor.info._type); has != wanted {
		return failf(op, StatusBadType, "the tensor's elements are %s, the slice's are %s", has, wanted)
	}
	return nil
}

// change makes one call that changes an input.
func (t *Tensor) change(op string, call func() C.mnn_go_result) error {
	if t == nil {
		return closedError(op, "tensor")
	}
	if t.shown != nil {
		return failf(op, StatusBadState, "a callback's tensor can only be read")
	}
	if err := t.session.lock(context.Background(), op); err != nil {
		return err
	}
	defer t.session.leave(true)
	return check(op, call())
}

func (t *Tensor) write(op string, element ElementType, data []byte, format Format) error {
	var wrong error
	err := t.change(op, func() C.mnn_go_result {
		if wrong = t.checkType(op, element); wrong != nil {
			return C.mnn_go_result{}
		}
		return C.go_mnn_tensor_write(t.handle, start(data), C.size_t(len(data)), C.int32_t(format))
	})
	if wrong != nil {
		return wrong
	}
	return err
}

func (t *Tensor) read(op string, element ElementType, format Format,
	bufferOf func(size int) ([]byte, error)) error {
	mine, err := t.enter(op)
	if err != nil {
		return err
	}
	defer t.session.leave(mine)
	if err := t.checkType(op, element); err != nil {
		return err
	}
	size := C.go_mnn_tensor_byte_size(t.handle, C.int32_t(format))
	if err := check(op, size); err != nil {
		return err
	}
	buffer, err := bufferOf(int(size.number))
	if err != nil {
		return err
	}
	return check(op, C.go_mnn_tensor_read(t.handle, start(buffer), C.size_t(len(buffer)), C.int32_t(format)))
}
