package mnn

import (
	"context"
	"testing"
	"unsafe"
)

func newBuffer[T Element](t testing.TB, count int) *Buffer[T] {
	t.Helper()
	buffer, err := NewBuffer[T](count)
	must(t, err)
	return buffer
}

func TestRunsUseBuffers(t *testing.T) {
	session := digitsSession(t)
	input, output := firstInput(t, session), firstOutput(t, session)
	image, scores := newBuffer[float32](t, pixelCount), newBuffer[float32](t, classCount+1)
	must(t, BindInput(input, image, NCHW))
	must(t, BindOutput(output, scores, NCHW))
	other := digitsSession(t)
	for seed := uint32(3); seed < 6; seed++ {
		copy(image.Data(), pixels(pixelCount, seed))
		must(t, session.Run(context.Background()))
		must(t, Write(firstInput(t, other), pixels(pixelCount, seed), NCHW))
		must(t, other.Run(context.Background()))
		wanted, err := Read[float32](firstOutput(t, other), NCHW)
		must(t, err)
		mustEqual(t, scores.Data()[:classCount], wanted)
	}
	if scores.Data()[classCount] != 0 {
		t.Error("the run wrote behind the output")
	}
	mustBe(t, Write(input, pixels(pixelCount, 1), NCHW), StatusBadState)
	mustBe(t, image.Free(), StatusBusy)
	must(t, BindInput[float32](input, nil, NCHW))
	must(t, image.Free())
	must(t, image.Free())
	mustBe(t, BindInput(input, image, NCHW), StatusBadState)
	must(t, session.Close())
	must(t, scores.Free())
}

func TestBuffersThatDoNotFit(t *testing.T) {
	session := digitsSession(t)
	input, output := firstInput(t, session), firstOutput(t, session)
	few, ints := newBuffer[float32](t, 5), newBuffer[int32](t, pixelCount)
	mustBe(t, BindInput(input, few, NCHW), StatusInputData)
	mustBe(t, BindInput(input, ints, NCHW), StatusBadType)
	image := newBuffer[float32](t, pixelCount)
	mustBe(t, BindInput(input, image, 9), StatusInvalidValue)
	mustBe(t, BindOutput(output, few, NCHW), StatusBufferTooSmall)
	mustBe(t, BindOutput(input, few, NCHW), StatusBadHandle)
	mustBe(t, BindInput[float32](nil, few, NCHW), StatusBadHandle)
	must(t, few.Free())
	must(t, ints.Free())
	must(t, image.Free())
	_, err := NewBuffer[float32](-1)
	mustBe(t, err, StatusBadRange)
	memory := newBuffer[float32](t, pixelCount+classCount)
	start := unsafe.Pointer(&memory.Data()[0])
	must(t, BindInput(input, BufferAt[float32](start, pixelCount), NCHW))
	mustBe(t, BindOutput(output, BufferAt[float32](start, classCount), NCHW), StatusInvalidValue)
	behind := unsafe.Pointer(&memory.Data()[pixelCount])
	must(t, BindOutput(output, BufferAt[float32](behind, classCount), NCHW))
	must(t, session.Run(context.Background()))
	must(t, session.Close())
	must(t, memory.Free())
}

func TestResizeEndsBindings(t *testing.T) {
	session := digitsSession(t)
	input := firstInput(t, session)
	image := newBuffer[float32](t, pixelCount)
	must(t, BindInput(input, image, NCHW))
	must(t, session.ResizeInput(input, []int{2, 1, 8, 8}))
	mustBe(t, BindInput(input, image, NCHW), StatusBadState)
	must(t, session.Resize(context.Background()))
	mustBe(t, session.Run(context.Background()), StatusBadState)
	images := newBuffer[float32](t, 2*pixelCount)
	must(t, BindInput(input, images, NCHW))
	must(t, session.Run(context.Background()))
	must(t, session.Close())
	must(t, image.Free())
	must(t, images.Free())
}

func TestBuffersWithoutMemory(t *testing.T) {
	input := firstInput(t, digitsSession(t))
	mustBe(t, BindInput(input, &Buffer[float32]{}, NCHW), StatusBadState)
	mustBe(t, BindInput(input, BufferAt[float32](nil, 0), NCHW), StatusBadState)
}
