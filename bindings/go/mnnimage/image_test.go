package mnnimage

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"libmnn-c.example/mnn"
)

func TestFilesAreDecodedIntoEveryFormat(t *testing.T) {
	found, err := Info(colour)
	must(t, err)
	if found != (FileInfo{RGB, 2, 1}) {
		t.Fatalf("found %v", found)
	}
	for format, wanted := range map[PixelFormat][]byte{
		RGBA: {10, 20, 30, 255, 255, 128, 0, 255},
		RGB:  {10, 20, 30, 255, 128, 0},
		BGR:  {30, 20, 10, 0, 128, 255},
		Gray: {(10*77 + 20*150 + 30*29) >> 8, (255*77 + 128*150) >> 8},
		BGRA: {30, 20, 10, 255, 0, 128, 255, 255},
	} {
		image, err := Decode(colour, format)
		must(t, err)
		if !bytes.Equal(image.Pixels, wanted) || image.Width != 2 || image.Height != 1 || image.Format != format {
			t.Errorf("%v is %v, wanted %v", format, image, wanted)
		}
	}
}

func TestAPNGFileHasThePixelsThatWereWritten(t *testing.T) {
	for _, format := range []PixelFormat{RGBA, RGB, BGR, Gray, BGRA} {
		image := picture(t, format, 5, 4)
		file, err := image.EncodePNG()
		must(t, err)
		again, err := Decode(file, format)
		must(t, err)
		if !reflect.DeepEqual(again, image) {
			t.Errorf("%v: read %v", format, again)
		}
		if _, err := Decode(file[:len(file)/2], format); err == nil {
			t.Errorf("%v: half of a file was decoded", format)
		}
	}
}

// A part is a view: pixels that are decoded into it are in the whole picture.
func TestPartsShareTheirPixels(t *testing.T) {
	for _, format := range []PixelFormat{RGBA, RGB, Gray} {
		image := picture(t, format, 5, 4)
		part, err := image.Crop(1, 2, 3, 2)
		must(t, err)
		file, err := part.EncodePNG()
		must(t, err)
		larger, err := New(format, 6, 3)
		must(t, err)
		place, err := larger.Crop(2, 1, 3, 2)
		must(t, err)
		must(t, place.Decode(file))
		channels := format.Channels()
		for y := 0; y < 3; y++ {
			for i := 0; i < 6*channels; i++ {
				wanted := byte(0)
				if x := i / channels; y > 0 && 2 <= x && x < 5 {
					wanted = image.Pixels[(y+1)*5*channels+i-channels]
				}
				if got := larger.Pixels[y*6*channels+i]; got != wanted {
					t.Fatalf("%v: byte (%d, %d) is %d, wanted %d", format, y, i, got, wanted)
				}
			}
		}
	}
}

func TestResizingCountsEveryPixel(t *testing.T) {
	checks := picture(t, Gray, 64, 64)
	for i := range checks.Pixels {
		checks.Pixels[i] = byte((i + i/64) % 2 * 200)
	}
	small, err := checks.Resize(7, 5)
	must(t, err)
	for _, pixel := range small.Pixels {
		if pixel < 95 || pixel > 105 {
			t.Fatalf("the mean is not 100: %v", small.Pixels)
		}
	}
	same, err := checks.Resize(64, 64)
	must(t, err)
	if !bytes.Equal(same.Pixels, checks.Pixels) {
		t.Error("equal extents do not copy")
	}
	part, err := checks.Crop(3, 5, 7, 9)
	must(t, err)
	target := &Image{Format: Gray, Width: 7, Height: 9, Stride: 10, Pixels: make([]byte, 90)}
	must(t, part.ResizeInto(target))
	for i, pixel := range target.Pixels {
		wanted := byte(0)
		if x, y := i%10, i/10; x < 7 {
			wanted = checks.Pixels[(y+5)*64+x+3]
		}
		if pixel != wanted {
			t.Fatalf("byte %d is %d, wanted %d", i, pixel, wanted)
		}
	}
	mustBe(t, part.ResizeInto(picture(t, RGB, 7, 9)), mnn.StatusBadType)
}

func TestWrongPictures(t *testing.T) {
	image, frame := picture(t, RGB, 6, 4), picture(t, NV21, 4, 4)
	for _, bad := range []struct {
		image  *Image
		status mnn.Status
	}{
		{nil, mnn.StatusNullArgument},
		{&Image{Format: 77, Width: 1, Height: 1}, mnn.StatusInvalidValue},
		{&Image{Format: RGB, Height: 1}, mnn.StatusBadRange},
		{&Image{Format: RGB, Width: 1, Height: -1}, mnn.StatusBadRange},
		{&Image{Format: RGB, Width: 1, Height: math.MaxInt32 + 2}, mnn.StatusBadRange},
		{&Image{Format: RGB, Width: 3, Height: 1, Stride: 8}, mnn.StatusBadRange},
		{&Image{Format: RGB, Width: 3, Height: 1, Stride: -9}, mnn.StatusBadRange},
		{&Image{Format: RGB, Width: 3, Height: 1}, mnn.StatusBufferTooSmall},
		{&Image{Format: RGB, Width: 3, Height: 2, Pixels: make([]byte, 17)}, mnn.StatusBufferTooSmall},
	} {
		_, err := bad.image.EncodePNG()
		mustBe(t, err, bad.status)
		_, err = bad.image.Crop(0, 0, 1, 1)
		mustBe(t, err, bad.status)
		mustBe(t, bad.image.Decode([]byte("P6 1 1 255\nabc")), bad.status)
		_, err = Convert[uint8](bad.image, RGB, 1, 1, nil)
		mustBe(t, err, bad.status)
		mustBe(t, bad.image.ResizeInto(image), bad.status)
		mustBe(t, image.ResizeInto(bad.image), bad.status)
	}
	for _, place := range [][4]int{{4, 0, 3, 1}, {0, 4, 1, 1}, {0, 0, 0, 1}, {-1, 0, 1, 1}, {1 << 40, 0, 1, 1}} {
		_, err := image.Crop(place[0], place[1], place[2], place[3])
		mustBe(t, err, mnn.StatusBadRange)
	}
	_, err := New(RGB, 0, 1)
	mustBe(t, err, mnn.StatusBadRange)
	_, err = image.Resize(0, 1)
	mustBe(t, err, mnn.StatusBadRange)
	_, err = image.Resize(-70000, -70000)
	mustBe(t, err, mnn.StatusBadRange)
	_, err = image.Resize(MaxExtent, MaxExtent)
	mustBe(t, err, mnn.StatusLimitExceeded)
	_, err = frame.Resize(2, 2)
	mustBe(t, err, mnn.StatusNotSupported)
	_, err = frame.Crop(0, 0, 1, 1)
	mustBe(t, err, mnn.StatusNotSupported)
}

func TestWrongFiles(t *testing.T) {
	for text, status := range map[string]mnn.Status{
		"":                              mnn.StatusBadFormat,
		"no picture":                    mnn.StatusBadFormat,
		string(colour[:len(colour)-1]):  mnn.StatusTruncated,
		"P5 70000 1 255\n":              mnn.StatusLimitExceeded,
		"P5 9000 9000 255\n":            mnn.StatusLimitExceeded,
		"P6 2 1 255\n\x0a\x14\x1e\xff":  mnn.StatusTruncated,
		"\x89PNG\r\n\x1a\n\x00\x00\x00": mnn.StatusBadFormat,
	} {
		_, err := Decode([]byte(text), RGB)
		mustBe(t, err, status)
	}
	_, err := Decode(colour, NV12)
	mustBe(t, err, mnn.StatusNotSupported)
	mustBe(t, picture(t, RGB, 1, 1).Decode(colour), mnn.StatusComputeSize)
}

func TestNames(t *testing.T) {
	for format, wanted := range map[PixelFormat]string{RGB: "RGB", NV12: "NV12", 77: "pixel format 77"} {
		if format.String() != wanted {
			t.Errorf("%d is %q", int(format), format.String())
		}
	}
}
