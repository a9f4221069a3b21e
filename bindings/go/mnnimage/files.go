// Reading and writing files of pictures.

package mnnimage

// #include "shims.h"
import "C"

// FileInfo describes the picture in a file.
type FileInfo struct {
	Format PixelFormat // Gray, RGB or RGBA
	Width  int
	Height int
}

// Info reads the description of the picture from the bytes of a file (PNG, JPEG, BMP, GIF, TGA, PGM or PPM). Errors:
// StatusBadFormat (no picture of a known kind, or a damaged one), StatusTruncated (the file ends too early),
// StatusLimitExceeded (more than MaxPixels, an extent above MaxExtent, or a file above 2^29 bytes).
func Info(file []byte) (FileInfo, error) { return info("Info", file) }

func info(op string, file []byte) (FileInfo, error) {
	var found C.mnn_go_image
	if err := check(op, C.go_mnn_image_info(start(file), C.size_t(len(file)), &found)); err != nil {
		return FileInfo{}, err
	}
	return FileInfo{PixelFormat(found.format), int(found.width), int(found.height)}, nil
}

// Decode decodes the bytes of a file. The format may be any but the YUV ones (StatusNotSupported): gray becomes three
// equal colours, colours become their brightness (77 R + 150 G + 29 B, divided by 256), an alpha that the file lacks is
// 255, and one that the result lacks is dropped. Its other errors are those of [Info].
func Decode(file []byte, format PixelFormat) (*Image, error) {
	const op = "Decode"
	found, err := info(op, file)
	if err != nil {
		return nil, err
	}
	image, err := newImage(op, format, found.Width, found.Height)
	if err != nil {
		return nil, err
	}
	if err := image.decode(op, file); err != nil {
		return nil, err
	}
	return image, nil
}

// Decode decodes the bytes of a file into the pixels of m, which has its extents (StatusComputeSize) and enough memory
// (StatusBufferTooSmall). Its other errors are those of the function [Decode].
func (m *Image) Decode(file []byte) error { return m.decode("Image.Decode", file) }

func (m *Image) decode(op string, file []byte) error {
	described, err := m.toC(op)
	if err != nil {
		return err
	}
	return check(op, C.go_mnn_image_decode(start(file), C.size_t(len(file)), described, start(m.Pixels)))
}

// EncodePNG returns the bytes of a PNG file. Errors: those of [Image.ByteSize]; StatusNotSupported (a YUV format),
// StatusLimitExceeded (more than MaxPixels), StatusBufferTooSmall (Pixels).
func (m *Image) EncodePNG() ([]byte, error) {
	const op = "Image.EncodePNG"
	described, err := m.toC(op)
	if err != nil {
		return nil, err
	}
	size := C.go_mnn_image_encode_png(described, start(m.Pixels), nil, 0)
	if err := check(op, size); err != nil {
		return nil, err
	}
	file := make([]byte, int(size.number))
	result := C.go_mnn_image_encode_png(described, start(m.Pixels), start(file), C.size_t(len(file)))
	if err := check(op, result); err != nil {
		return nil, err
	}
	return file[:int(result.number)], nil
}
