// A tensor: its name, shape, type and format.

package mnn

// #include "shims.h"
import "C"

// A Tensor is an input or an output of a session. It stays valid, also across resizes, until the session is
// closed, and keeps the session from being collected.
type Tensor struct {
	session *Session
	handle  C.mnn_go_tensor
	shown   *showing // of a tensor that a callback sees
}

// enter begins a call that only reads; t.session.leave(mine) ends it.
func (t *Tensor) enter(op string) (mine bool, err error) {
	if t == nil {
		return false, closedError(op, "tensor")
	}
	mine, err = t.session.enter(op)
	if err == nil && t.shown != nil && t.shown.over {
		t.session.leave(mine)
		err = closedError(op, "callback's tensor")
	}
	return mine, err
}

// ask makes one call that only reads.
func (t *Tensor) ask(op string, call func(C.mnn_go_tensor) C.mnn_go_result) (C.mnn_go_result, error) {
	return asking(t, op, func() (C.mnn_go_result, error) {
		result := call(t.handle)
		return result, check(op, result)
	})
}

// Name returns the name of the tensor.
func (t *Tensor) Name() (string, error) {
	const op = "Tensor.Name"
	return asking(t, op, func() (string, error) { return textOf(op, C.go_mnn_tensor_name(t.handle)) })
}

// Shape returns the present shape in the order of the tensor's format; empty for a scalar. An input that needs a resize
// has its new shape, -1 for extents still open. It returns StatusBadState for an output while a resize is needed, or
// when its shape depends on contents and no run has determined it yet.
func (t *Tensor) Shape() ([]int, error) {
	const op = "Tensor.Shape"
	return asking(t, op, func() ([]int, error) {
		shape := C.go_mnn_tensor_shape(t.handle)
		return shapeOf(shape), check(op, shape.result)
	})
}

// Type returns the element type. It returns StatusBadState like Shape.
func (t *Tensor) Type() (ElementType, error) {
	properties, err := t.properties("Tensor.Type")
	return properties.Type, err
}

// Format returns NHWC when the shape is in NHWC order, else NCHW or NC4HW4, whose shapes are in NCHW order.
// It returns StatusBadState like Shape.
func (t *Tensor) Format() (Format, error) {
	properties, err := t.properties("Tensor.Format")
	return properties.Format, err
}

// ElementCount returns the product of the extents. It returns StatusBadState like Shape, and when an extent is open.
func (t *Tensor) ElementCount() (int, error) {
	result, err := t.ask("Tensor.ElementCount", func(handle C.mnn_go_tensor) C.mnn_go_result {
		return C.go_mnn_tensor_element_count(handle)
	})
	return int(result.number), err
}

// ByteSize returns how many bytes the tensor has in a format. It returns StatusBadState like ElementCount.
func (t *Tensor) ByteSize(format Format) (int, error) {
	result, err := t.ask("Tensor.ByteSize", func(handle C.mnn_go_tensor) C.mnn_go_result {
		return C.go_mnn_tensor_byte_size(handle, C.int32_t(format))
	})
	return int(result.number), err
}
