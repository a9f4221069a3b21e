// Tensors that operators of the host read and write in place.

package mnn

// #include "shims.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// A HostTensor is a tensor of an [OperatorCall]. Its elements are row-major over its shape.
type HostTensor struct {
	tensor *C.mnn_host_tensor_t
	shown  *showing
	shapes bool // an output in Operator.Shape, whose shape, type and format can be set
}

func (t *HostTensor) over() bool { return t == nil || t.shown != nil && t.shown.over }

// Name returns the name of the tensor, "" when it has none.
func (t *HostTensor) Name() string {
	if t.over() {
		return ""
	}
	return C.GoString(t.tensor.name)
}

// Shape returns the extents in the order of the format, nil when they are not known.
func (t *HostTensor) Shape() []int {
	if t.over() || t.tensor.rank < 0 || int(t.tensor.rank) > MaxRank {
		return nil
	}
	shape := make([]int, int(t.tensor.rank))
	for i := range shape {
		shape[i] = int(t.tensor.dims[i])
	}
	return shape
}

// Type returns the type of the elements.
func (t *HostTensor) Type() ElementType {
	if t.over() {
		return 0
	}
	return ElementType(t.tensor._type)
}

// Format returns the order of the extents. NC4HW4 has the order of NCHW, also in memory.
func (t *HostTensor) Format() Format {
	if t.over() {
		return 0
	}
	return Format(t.tensor.format)
}

// SetShape sets the shape of an output, in Operator.Shape: its extents in the order of its format. Type and format are
// those of input 0 (without inputs: TypeFloat32, NCHW) unless they are set, too.
func (t *HostTensor) SetShape(shape ...int) error {
	const op = "HostTensor.SetShape"
	if t.over() || !t.shapes {
		return failf(op, StatusBadState, "shapes are set in Operator.Shape, for outputs")
	}
	if len(shape) > MaxRank {
		return failf(op, StatusBadRange, "rank %d is above %d", len(shape), MaxRank)
	}
	for i, extent := range shape {
		if extent < 0 || int64(extent) != int64(int32(extent)) {
			return failf(op, StatusBadRange, "extent %d is %d", i, extent)
		}
	}
	for i, extent := range shape {
		t.tensor.dims[i] = C.int32_t(extent)
	}
	t.tensor.rank = C.int32_t(len(shape))
	return nil
}

// SetType sets the type of an output's elements, in Operator.Shape.
func (t *HostTensor) SetType(element ElementType) {
	if !t.over() && t.shapes {
		t.tensor._type = C.int32_t(element)
	}
}

// SetFormat sets the order of an output's extents, in Operator.Shape.
func (t *HostTensor) SetFormat(format Format) {
	if !t.over() && t.shapes {
		t.tensor.format = C.int32_t(format)
	}
}

// Values returns the elements of a tensor in place, to read an input or to write an output, until the function of the
// operator returns. T must be the tensor's type (StatusBadType). It returns StatusBadState where the elements are not
// known.
func Values[T Element](tensor *HostTensor) ([]T, error) {
	const op = "Values"
	if tensor.over() {
		return nil, closedError(op, "tensor")
	}
	if found, wanted := tensor.Type(), elementType[T](); found != wanted {
		return nil, failf(op, StatusBadType, "the elements are %v, not %v", found, wanted)
	}
	if tensor.tensor.bytes == 0 {
		return nil, nil
	}
	if tensor.tensor.data == nil {
		return nil, failf(op, StatusBadState, "the elements are not known in this function")
	}
	var zero T
	count := int(tensor.tensor.bytes) / int(unsafe.Sizeof(zero))
	return unsafe.Slice((*T)(tensor.tensor.data), count), nil
}

func (t *HostTensor) String() string {
	return fmt.Sprintf("%s %v %v", t.Name(), t.Type(), t.Shape())
}
