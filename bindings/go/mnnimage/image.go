// Pictures: their formats, their memory, and the parts of them.

package mnnimage

// #include "shims.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"libmnn-c.example/mnn"
)

// Channels returns the number of values of a pixel; 0 for YUV formats and unknown ones.
func (f PixelFormat) Channels() int {
	switch f {
	case RGBA, BGRA:
		return 4
	case RGB, BGR:
		return 3
	case Gray:
		return 1
	}
	return 0
}

func (f PixelFormat) String() string {
	switch f {
	case RGBA:
		return "RGBA"
	case RGB:
		return "RGB"
	case BGR:
		return "BGR"
	case Gray:
		return "Gray"
	case BGRA:
		return "BGRA"
	case NV21:
		return "NV21"
	case NV12:
		return "NV12"
	case I420:
		return "I420"
	}
	return fmt.Sprintf("pixel format %d", int32(f))
}

// An Image is a picture in a slice.
type Image struct {
	Format PixelFormat
	Width  int // 1 to MaxExtent
	Height int // 1 to MaxExtent
	// Stride is the number of bytes from one row to the next; 0: rows are contiguous. Rows of the colour of NV21 and NV12
	// have the same number, rounded up to an even number, those of I420 half of that.
	Stride int
	// Pixels begins with the upper row, and has at least the bytes of [Image.ByteSize].
	Pixels []byte
}

// New makes a picture whose bytes are 0. Its errors are those of [Image.ByteSize].
func New(format PixelFormat, width, height int) (*Image, error) {
	return newImage("New", format, width, height)
}

func newImage(op string, format PixelFormat, width, height int) (*Image, error) {
	image := &Image{Format: format, Width: width, Height: height}
	size, err := image.byteSize(op)
	if err != nil {
		return nil, err
	}
	image.Pixels = make([]byte, size)
	return image, nil
}

// ByteSize returns the bytes that the pixels take, by format, extents and stride. Errors: StatusInvalidValue (no such
// format), StatusBadRange (extents, or a stride below a row or above 2^30).
func (m *Image) ByteSize() (int, error) { return m.byteSize("Image.ByteSize") }

func (m *Image) byteSize(op string) (int, error) {
	described, err := m.toC(op)
	if err != nil {
		return 0, err
	}
	result := C.go_mnn_image_byte_size(described)
	return int(result.number), check(op, result)
}

// Crop returns a view of the rectangle with the upper left pixel (x, y): it has the pixels of m. Errors: StatusBadRange
// (a rectangle that is empty or not inside of the picture), StatusNotSupported (a YUV format), StatusBufferTooSmall
// (Pixels).
func (m *Image) Crop(x, y, width, height int) (*Image, error) {
	const op = "Image.Crop"
	described, err := m.toC(op)
	if err != nil {
		return nil, err
	}
	var part C.mnn_go_image
	result := C.go_mnn_image_crop(described, start(m.Pixels), number(x), number(y), number(width), number(height), &part)
	if err := check(op, result); err != nil {
		return nil, err
	}
	view := &Image{Format: m.Format, Width: width, Height: height, Stride: int(part.stride)}
	size, err := view.byteSize(op)
	if err != nil {
		return nil, err
	}
	from := int(result.number)
	view.Pixels = m.Pixels[from : from+size : from+size]
	return view, nil
}

// Resize returns the picture with other extents. Every pixel contributes: shrinking averages with Mitchell's filter,
// enlarging interpolates with Catmull and Rom's, and equal extents copy. Errors: StatusBadRange (extents),
// StatusNotSupported (a YUV format), StatusLimitExceeded (more than MaxPixels), StatusBufferTooSmall (Pixels).
func (m *Image) Resize(width, height int) (*Image, error) {
	const op = "Image.Resize"
	if m == nil {
		return nil, failf(op, mnn.StatusNullArgument, "the picture is nil")
	}
	if 0 < width && width <= MaxExtent && height <= MaxExtent && width*height > MaxPixels {
		return nil, failf(op, mnn.StatusLimitExceeded, "the result is %d x %d, which is more than %d pixels", width, height,
			MaxPixels)
	}
	target, err := newImage(op, m.Format, width, height)
	if err != nil {
		return nil, err
	}
	if err := m.resize(op, target); err != nil {
		return nil, err
	}
	return target, nil
}

// ResizeInto is Resize into the pixels of target, to its extents. It also returns StatusBadType where the formats
// differ.
func (m *Image) ResizeInto(target *Image) error { return m.resize("Image.ResizeInto", target) }

func (m *Image) resize(op string, target *Image) error {
	from, err := m.toC(op)
	if err != nil {
		return err
	}
	to, err := target.toC(op)
	if err != nil {
		return err
	}
	return check(op, C.go_mnn_image_resize(from, start(m.Pixels), to, start(target.Pixels)))
}

// toC describes a picture without its pixels.
func (m *Image) toC(op string) (C.mnn_go_image, error) {
	if m == nil {
		return C.mnn_go_image{}, failf(op, mnn.StatusNullArgument, "the picture is nil")
	}
	if m.Stride < 0 {
		return C.mnn_go_image{}, failf(op, mnn.StatusBadRange, "the stride is %d, it cannot be negative", m.Stride)
	}
	return C.mnn_go_image{
		format: C.int32_t(m.Format),
		width:  number(m.Width),
		height: number(m.Height),
		stride: C.size_t(m.Stride),
		bytes:  C.size_t(len(m.Pixels)),
	}, nil
}

// number converts an extent or a place for the library, which refuses those that do not fit.
func number(value int) C.int32_t {
	if value < math.MinInt32 {
		return math.MinInt32
	}
	if value > math.MaxInt32 {
		return math.MaxInt32
	}
	return C.int32_t(value)
}

// start returns the address of a slice's bytes, NULL when there are none.
func start(bytes []byte) *C.uint8_t {
	if len(bytes) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&bytes[0]))
}

func failf(op string, status mnn.Status, format string, arguments ...any) error {
	return &mnn.Error{Op: "mnnimage." + op, Status: status, Message: fmt.Sprintf(format, arguments...)}
}

// check turns the result of a C call into an error, nil for MNN_OK.
func check(op string, result C.mnn_go_result) error {
	if result.status == C.MNN_OK {
		return nil
	}
	status := mnn.Status(result.status)
	if result.sentence == nil {
		return failf(op, status, "there is no memory for the sentence of the failure")
	}
	defer C.free(unsafe.Pointer(result.sentence))
	return failf(op, status, "%s", C.GoString(result.sentence))
}
