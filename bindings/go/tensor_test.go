package mnn

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

func TestTensorProperties(t *testing.T) {
	input := firstInput(t, digitsSession(t))
	shape, err := input.Shape()
	must(t, err)
	kind, err := input.Type()
	must(t, err)
	format, err := input.Format()
	must(t, err)
	count, err := input.ElementCount()
	must(t, err)
	bytes, err := input.ByteSize(NC4HW4)
	must(t, err)
	if !reflect.DeepEqual(shape, []int{1, 1, 8, 8}) || kind != TypeFloat32 || format != NCHW ||
		count != pixelCount || bytes != 4*4*pixelCount {
		t.Errorf("%v %v %v, %d elements, %d bytes", shape, kind, format, count, bytes)
	}
	_, err = input.ByteSize(77)
	mustBe(t, err, StatusInvalidValue)
}

func TestFormats(t *testing.T) {
	session := digitsSession(t)
	input := firstInput(t, session)
	must(t, session.ResizeInput(input, []int{1, 1, 8, 8}))
	image := pixels(pixelCount, 4)
	must(t, Write(input, image, NHWC)) // one channel: the same order
	back, err := Read[float32](input, NCHW)
	must(t, err)
	mustEqual(t, back, image)
	packed, err := Read[float32](input, NC4HW4)
	must(t, err)
	for i, value := range packed {
		want := float32(0)
		if i%4 == 0 {
			want = image[i/4]
		}
		if value != want {
			t.Fatalf("packed[%d] is %g, wanted %g", i, value, want)
		}
	}
	must(t, Write(input, make([]float32, pixelCount), NCHW))
	must(t, Write(input, packed, NC4HW4))
	back, err = Read[float32](input, NCHW)
	must(t, err)
	mustEqual(t, back, image)
	mustBe(t, Write(input, image, 77), StatusInvalidValue)
	_, err = Read[float32](input, -1)
	mustBe(t, err, StatusInvalidValue)
}

func TestReadAndWriteAreChecked(t *testing.T) {
	session := digitsSession(t)
	input, output := firstInput(t, session), firstOutput(t, session)
	_, err := Read[float32](output, NCHW)
	mustBe(t, err, StatusBadState) // no run yet
	mustScore(t, session, pixels(pixelCount, 5))
	for _, size := range []int{0, 1, pixelCount - 1, pixelCount + 1} {
		mustBe(t, Write(input, make([]float32, size), NCHW), StatusInputData)
		mustBe(t, input.WriteBytes(make([]byte, size), NCHW), StatusInputData)
	}
	mustBe(t, Write[float32](input, nil, NCHW), StatusInputData)
	mustBe(t, Write(output, make([]float32, classCount), NCHW), StatusBadState)
	mustBe(t, ReadInto(output, make([]float32, classCount-1), NCHW), StatusBufferTooSmall)
	mustBe(t, ReadInto(output, make([]float32, classCount+1), NCHW), StatusBadRange)
	mustBe(t, output.ReadBytes(make([]byte, 4*classCount-1), NCHW), StatusBufferTooSmall)
	mustBe(t, output.ReadBytes(nil, NCHW), StatusBufferTooSmall)
	mustBe(t, Write[float32](nil, nil, NCHW), StatusBadHandle)
	mustBe(t, Write[float32](&Tensor{}, nil, NCHW), StatusBadHandle)
	_, err = Read[float32](&Tensor{}, NCHW)
	mustBe(t, err, StatusBadHandle)
}

func refuses[T Element](t *testing.T, input, output *Tensor) {
	t.Helper()
	mustBe(t, Write(input, make([]T, pixelCount), NCHW), StatusBadType)
	mustBe(t, Write(input, make([]T, 4*pixelCount), NCHW), StatusBadType)
	_, err := Read[T](output, NCHW)
	mustBe(t, err, StatusBadType)
	mustBe(t, ReadInto(output, make([]T, classCount), NCHW), StatusBadType)
}

func TestOtherElementTypes(t *testing.T) {
	session := digitsSession(t)
	want := mustScore(t, session, pixels(pixelCount, 6))
	input, output := firstInput(t, session), firstOutput(t, session)
	refuses[int32](t, input, output)
	refuses[uint8](t, input, output)
	refuses[int16](t, input, output)
	refuses[int8](t, input, output)
	refuses[BFloat16](t, input, output)
	refuses[uint16](t, input, output)
	refuses[Float16](t, input, output)
	got, err := Read[float32](output, NCHW)
	must(t, err)
	mustEqual(t, got, want)

	for got, want := range map[ElementType]ElementType{
		elementType[float32](): TypeFloat32, elementType[int32](): TypeInt32, elementType[uint8](): TypeUint8,
		elementType[int16](): TypeInt16, elementType[int8](): TypeInt8, elementType[BFloat16](): TypeBFloat16,
		elementType[uint16](): TypeUint16, elementType[Float16](): TypeFloat16,
	} {
		if got != want {
			t.Errorf("%v, wanted %v", got, want)
		}
	}
}

func TestIntegers(t *testing.T) {
	net := openModel(t, inRepository(t, "tests", "conformance", "cases", "control__loop_counted", "model.mnn"))
	session := newTestSession(t, net, nil)
	must(t, session.Resize(context.Background()))
	in0, err := session.Input("in0")
	must(t, err)
	trips, err := session.Input("trips")
	must(t, err)
	must(t, Write(in0, make([]float32, 6), NCHW))
	for _, count := range []int32{3, 1, 4} {
		must(t, Write(trips, []int32{count}, NCHW))
		back := []int32{0}
		must(t, ReadInto(trips, back, NCHW))
		if back[0] != count {
			t.Errorf("read %d, wrote %d", back[0], count)
		}
		must(t, session.Run(context.Background()))
		steps, err := session.Output("steps")
		must(t, err)
		shape, err := steps.Shape()
		must(t, err)
		if want := []int{int(count), 2, 3}; !reflect.DeepEqual(shape, want) {
			t.Errorf("steps %v, wanted %v", shape, want)
		}
		values, err := Read[float32](steps, NCHW)
		must(t, err)
		if len(values) != int(count)*6 {
			t.Errorf("%d values for %d steps", len(values), count)
		}
	}
	mustBe(t, Write(trips, []float32{1}, NCHW), StatusBadType)
}

func TestNoElements(t *testing.T) {
	session := endless(t) // its input is 0x3
	in0, err := session.Input("in0")
	must(t, err)
	must(t, Write(in0, []float32{}, NCHW))
	must(t, Write[float32](in0, nil, NCHW))
	values, err := Read[float32](in0, NCHW)
	must(t, err)
	if values == nil || len(values) != 0 {
		t.Errorf("read %v", values)
	}
	must(t, ReadInto[float32](in0, nil, NCHW))
	must(t, in0.ReadBytes(nil, NCHW))
}

// The memory around the caller's elements may hold pointers.
func TestElementsInsideOfAStruct(t *testing.T) {
	session := digitsSession(t)
	box := &struct {
		next   *int
		pixels [pixelCount]float32
		scores [classCount]float32
		err    error
	}{next: new(int), err: errors.New("something")}
	copy(box.pixels[:], pixels(pixelCount, 7))
	must(t, Write(firstInput(t, session), box.pixels[:], NCHW))
	must(t, session.Run(context.Background()))
	must(t, ReadInto(firstOutput(t, session), box.scores[:], NCHW))
	mustEqual(t, box.scores[:], mustScore(t, session, pixels(pixelCount, 7)))
}

func TestBytes(t *testing.T) {
	session := digitsSession(t)
	input := firstInput(t, session)
	image := pixels(pixelCount, 8)
	must(t, input.WriteBytes(bytesOf(image), NCHW))
	got, err := Read[float32](input, NCHW)
	must(t, err)
	mustEqual(t, got, image)
	raw := make([]byte, 4*pixelCount)
	must(t, input.ReadBytes(raw, NCHW))
	if !reflect.DeepEqual(raw, bytesOf(image)) {
		t.Error("ReadBytes returned other bytes than WriteBytes wrote")
	}
}

func TestConvertedElements(t *testing.T) {
	session := digitsSession(t)
	input := firstInput(t, session)
	whole := make([]int64, pixelCount)
	for i := range whole {
		whole[i] = int64(i)
	}
	must(t, WriteAs(input, whole, NCHW))
	back, err := ReadAs[int64](input, NCHW)
	must(t, err)
	if !reflect.DeepEqual(back, whole) {
		t.Errorf("%v, wanted %v", back, whole)
	}
	wide, err := ReadAs[float64](input, NHWC)
	must(t, err)
	truths, err := ReadAs[bool](input, NCHW)
	must(t, err)
	halves, err := ReadAs[Float16](input, NCHW)
	must(t, err)
	if wide[5] != 5 || truths[0] || !truths[2] || halves[1] != 0x3c00 {
		t.Errorf("%v %v %v %x", wide[5], truths[0], truths[2], halves[1])
	}
	mustBe(t, WriteAs(input, []int64{1}, NCHW), StatusInputData)
	fractions := make([]float64, pixelCount)
	fractions[pixelCount-1] = 0.5
	must(t, WriteAs(input, fractions, NCHW))
	_, err = ReadAs[int64](input, NCHW)
	mustBe(t, err, StatusInputData)
	fractions[0] = 1e300
	mustBe(t, WriteAs(input, fractions, NCHW), StatusInputData)
}
