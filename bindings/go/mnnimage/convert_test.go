package mnnimage

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"
	"testing"

	"libmnn-c.example/mnn"
)

func TestValuesAreThoseOfTheFormula(t *testing.T) {
	image := picture(t, RGB, 4, 3)
	options := Options{Mean: [4]float32{1, 2, 3}, Scale: [4]float32{0.5, 0.25, 2}}
	values, err := Convert[float32](image, BGR, 4, 3, &options)
	must(t, err)
	options.Layout = mnn.NHWC
	swapped, err := Convert[float32](image, BGR, 4, 3, &options)
	must(t, err)
	for i := 0; i < 12; i++ {
		for c := 0; c < 3; c++ {
			wanted := (float32(image.Pixels[3*i+2-c]) - options.Mean[c]) * options.Scale[c]
			if values[c*12+i] != wanted || swapped[3*i+c] != wanted {
				t.Fatalf("pixel %d, channel %d: %g and %g, wanted %g", i, c, values[c*12+i], swapped[3*i+c], wanted)
			}
		}
	}
	into := bytes.Repeat([]byte{7}, 39)
	must(t, ConvertInto(image, RGB, 4, 3, into, &Options{Layout: mnn.NHWC}))
	if !bytes.Equal(into, append(append([]byte{}, image.Pixels...), 7, 7, 7)) {
		t.Errorf("the same picture is %v", into)
	}
	mustBe(t, ConvertInto(image, RGB, 4, 3, into[:35], nil), mnn.StatusBufferTooSmall)
	if *ResizeMatrix(4, 9, 2, 3) != [6]float32{2, 0, 0.5, 0, 3, 1} {
		t.Errorf("the matrix is %v", *ResizeMatrix(4, 9, 2, 3))
	}
}

func TestAPictureFeedsASession(t *testing.T) {
	net, err := mnn.NewInterpreterFromFile(context.Background(), inRepository(t, "examples", "digits", "digits.mnn"), nil)
	must(t, err)
	defer net.Close()
	session, err := net.NewSession(context.Background(), nil)
	must(t, err)
	defer session.Close()
	values, err := Convert[float32](picture(t, Gray, 8, 8), Gray, 8, 8, &Options{Scale: [4]float32{1.0 / 16}})
	must(t, err)
	input, err := session.Input("")
	must(t, err)
	must(t, mnn.Write(input, values, mnn.NCHW))
	must(t, session.Run(context.Background()))
}

// record is the head of a case of official.bin.
type record struct {
	Source, Width, Height, Stride, Bytes, Target, ToWidth, ToHeight, Layout, Type, Filter, Wrap, Padding int32
	Matrix                                                                                               [6]float32
	Mean, Scale                                                                                          [4]float32
	Values                                                                                               int32
}

func (r *record) options() *Options {
	return &Options{
		Layout: mnn.Format(r.Layout), Filter: Filter(r.Filter), Wrap: Wrap(r.Wrap), Padding: uint8(r.Padding),
		Matrix: &r.Matrix, Mean: r.Mean, Scale: r.Scale,
	}
}

// compare returns how many values differ by one, which the bilinear filter allows, and fails for other differences.
func compare[T Value](t *testing.T, r *record, source *Image, wanted []T) int {
	t.Helper()
	values, err := Convert[T](source, PixelFormat(r.Target), int(r.ToWidth), int(r.ToHeight), r.options())
	must(t, err)
	if len(values) != len(wanted) {
		t.Fatalf("%d values, wanted %d", len(values), len(wanted))
	}
	different := 0
	for i := range values {
		if values[i] == wanted[i] {
			continue
		}
		different++
		_, isBytes := any(wanted).([]uint8)
		if !isBytes || Filter(r.Filter) != Bilinear || math.Abs(float64(values[i])-float64(wanted[i])) > 1 {
			t.Fatalf("%+v: value %d is %v, wanted %v", *r, i, values[i], wanted[i])
		}
	}
	return different
}

func TestPixelsAreThoseOfTheOfficialRuntime(t *testing.T) {
	content, err := os.ReadFile(inRepository(t, "tests", "image", "official.bin"))
	must(t, err)
	file := bytes.NewReader(content)
	read := func(to any) { t.Helper(); must(t, binary.Read(file, binary.LittleEndian, to)) }
	var count int32
	read(&count)
	different, compared := 0, 0
	for ; count > 0; count-- {
		var r record
		read(&r)
		source := &Image{PixelFormat(r.Source), int(r.Width), int(r.Height), int(r.Stride), make([]byte, r.Bytes)}
		read(source.Pixels)
		if mnn.ElementType(r.Type) == mnn.TypeUint8 {
			wanted := make([]uint8, r.Values)
			read(wanted)
			different += compare(t, &r, source, wanted)
		} else {
			wanted := make([]float32, r.Values)
			read(wanted)
			compare(t, &r, source, wanted)
		}
		compared += int(r.Values)
	}
	if rest, _ := io.ReadAll(file); len(rest) > 0 || compared < 50000 || different*2000 > compared {
		t.Errorf("%d of %d values differ, %d bytes are left", different, compared, len(rest))
	}
}

func TestWrongConversions(t *testing.T) {
	image, frame := picture(t, RGB, 6, 4), picture(t, NV21, 4, 4)
	nan := float32(math.NaN())
	for _, bad := range []struct {
		source  *Image
		format  PixelFormat
		width   int
		options *Options
		status  mnn.Status
	}{
		{image, RGB, 6, &Options{Filter: 5}, mnn.StatusInvalidValue},
		{image, RGB, 6, &Options{Wrap: 5}, mnn.StatusInvalidValue},
		{image, RGB, 6, &Options{Layout: mnn.NC4HW4}, mnn.StatusInvalidValue},
		{image, RGB, 6, &Options{Mean: [4]float32{nan}}, mnn.StatusInvalidValue},
		{image, RGB, 6, &Options{Scale: [4]float32{1, nan}}, mnn.StatusInvalidValue},
		{image, RGB, 6, &Options{Matrix: &[6]float32{nan}}, mnn.StatusInvalidValue},
		{image, NV12, 6, nil, mnn.StatusNotSupported},
		{frame, RGB, 6, &Options{Wrap: Repeat}, mnn.StatusNotSupported},
		{image, RGB, 0, nil, mnn.StatusBadRange},
		{image, RGB, MaxExtent + 1, nil, mnn.StatusBadRange},
	} {
		_, err := Convert[float32](bad.source, bad.format, bad.width, 4, bad.options)
		mustBe(t, err, bad.status)
	}
}
