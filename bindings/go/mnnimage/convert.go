// Pictures to values of tensors.

package mnnimage

// #include "shims.h"
import "C"

import (
	"unsafe"

	"libmnn-c.example/mnn"
)

// A Value is the type of the values that a picture becomes.
type Value interface{ float32 | uint8 }

// Options say how values are taken from a picture. The zero value means the same place, the nearest pixel, mean 0 and
// scale 1, mnn.NCHW.
type Options struct {
	Layout  mnn.Format // NCHW or NHWC
	Filter  Filter
	Wrap    Wrap
	Padding uint8 // the value outside of the picture, with Zero
	// Matrix maps the place (x, y) of a pixel of the result to the place in the picture: M[0] x + M[1] y + M[2], M[3] x +
	// M[4] y + M[5]. nil: the same place. See [ResizeMatrix].
	Matrix *[6]float32
	// A value becomes (value - Mean) * Scale of its channel in the result. A Scale of only zeros counts as 1. Values of
	// type uint8 have neither.
	Mean  [4]float32
	Scale [4]float32
}

// ResizeMatrix is the Options.Matrix that resizes from one width and height to another, with equal centres. Shrinking
// skips pixels, while [Image.Resize] averages all of them.
func ResizeMatrix(fromWidth, fromHeight, toWidth, toHeight int) *[6]float32 {
	x, y := float32(fromWidth)/float32(toWidth), float32(fromHeight)/float32(toHeight)
	return &[6]float32{x, 0, (x - 1) / 2, 0, y, (y - 1) / 2}
}

// Convert returns the values of a picture, in the channels of format and with these extents. options may be nil.
// Errors: StatusBadRange (extents), StatusInvalidValue (filter, wrap or layout; a matrix, mean or scale that is not
// finite), StatusNotSupported (values in a YUV format, a YUV picture repeated), StatusBufferTooSmall (Pixels).
func Convert[T Value](source *Image, format PixelFormat, width, height int, options *Options) ([]T, error) {
	const op = "Convert"
	count, err := (&Image{Format: format, Width: width, Height: height}).byteSize(op)
	if err != nil {
		return nil, err
	}
	values := make([]T, count)
	if err := convert(op, source, format, width, height, values, options); err != nil {
		return nil, err
	}
	return values, nil
}

// ConvertInto is Convert into memory of the caller. It also returns StatusBufferTooSmall where values is too short;
// elements behind the values are not changed.
func ConvertInto[T Value](source *Image, format PixelFormat, width, height int, values []T, options *Options) error {
	return convert("ConvertInto", source, format, width, height, values, options)
}

func convert[T Value](op string, source *Image, format PixelFormat, width, height int, values []T, options *Options) error {
	from, err := source.toC(op)
	if err != nil {
		return err
	}
	how, err := options.toC(op)
	if err != nil {
		return err
	}
	var bytes []byte
	if len(values) > 0 {
		bytes = unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
	}
	element := mnn.TypeFloat32
	if _, ok := any(values).([]uint8); ok {
		element = mnn.TypeUint8
	}
	layout := mnn.NCHW
	if options != nil {
		layout = options.Layout
	}
	to := C.mnn_go_values{
		format: C.int32_t(format),
		width:  number(width),
		height: number(height),
		_type:  C.int32_t(element),
		layout: C.int32_t(layout),
		bytes:  C.size_t(len(bytes)),
	}
	return check(op, C.go_mnn_image_convert(&how, from, start(source.Pixels), to, start(bytes)))
}

func (o *Options) toC(op string) (how C.mnn_image_options_t, err error) {
	if err = check(op, C.go_mnn_image_options_init(&how)); err != nil || o == nil {
		return
	}
	how.filter = C.int32_t(o.Filter)
	how.wrap = C.int32_t(o.Wrap)
	how.padding = C.int32_t(o.Padding)
	if o.Matrix != nil {
		how.has_matrix = 1
		for i, value := range o.Matrix {
			how.matrix[i] = C.float(value)
		}
	}
	for i := range o.Mean {
		how.mean[i] = C.float(o.Mean[i])
		how.scale[i] = C.float(o.Scale[i])
	}
	if o.Scale != [4]float32{} {
		how.has_scale = 1
	}
	return
}
