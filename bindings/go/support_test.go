package mnn

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"
)

const (
	pixelCount = 64
	classCount = 10
)

// inRepository returns the path of a file that the tests need and that lies outside of this module.
func inRepository(t testing.TB, path ...string) string {
	t.Helper()
	full := filepath.Join(append([]string{"..", ".."}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("needs the library's repository: %v", err)
	}
	return full
}

func digitsPath(t testing.TB) string { return inRepository(t, "examples", "digits", "digits.mnn") }

// must fails the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustBe fails the test unless err matches all of targets, is an *Error, and has a sentence.
func mustBe(t testing.TB, err error, targets ...error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, wanted an *Error that is %v", err, targets)
	}
	if e.Op == "" || e.Message == "" {
		t.Errorf("%#v has no sentence", e)
	}
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("got %v, wanted one that is %v", err, target)
		}
	}
}

// inTime returns the error that comes from a channel. Where none comes it ends the process and prints all goroutines,
// because calls that wait for each other would also keep the cleanup of the test.
func inTime(end <-chan error) error {
	select {
	case err := <-end:
		return err
	case <-time.After(20 * time.Second):
		debug.SetTraceback("all")
		panic("calls wait for each other")
	}
}

func openModel(t testing.TB, path string) *Interpreter {
	t.Helper()
	net, err := NewInterpreterFromFile(context.Background(), path, nil)
	must(t, err)
	t.Cleanup(func() { must(t, net.Close()) })
	return net
}

func openDigits(t testing.TB) *Interpreter { t.Helper(); return openModel(t, digitsPath(t)) }

func newTestSession(t testing.TB, net *Interpreter, config *SessionConfig) *Session {
	t.Helper()
	session, err := net.NewSession(context.Background(), config)
	must(t, err)
	t.Cleanup(func() { must(t, session.Close()) })
	return session
}

func digitsSession(t testing.TB) *Session { t.Helper(); return newTestSession(t, openDigits(t), nil) }

func firstInput(t testing.TB, session *Session) *Tensor {
	t.Helper()
	tensor, err := session.Input("")
	must(t, err)
	return tensor
}

func firstOutput(t testing.TB, session *Session) *Tensor {
	t.Helper()
	tensor, err := session.Output("")
	must(t, err)
	return tensor
}

// pixels returns deterministic pixels from 0 to 1; every seed gives different ones.
func pixels(count int, seed uint32) []float32 {
	state := seed*2654435761 + 12345
	data := make([]float32, count)
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = float32(state>>28) / 16
	}
	return data
}

// scores classifies images and returns their scores, or the first error.
func scores(session *Session, images []float32) ([]float32, error) {
	input, err := session.Input("")
	if err != nil {
		return nil, err
	}
	if err := Write(input, images, NCHW); err != nil {
		return nil, err
	}
	if err := session.Run(context.Background()); err != nil {
		return nil, err
	}
	output, err := session.Output("")
	if err != nil {
		return nil, err
	}
	return Read[float32](output, NCHW)
}

func mustScore(t testing.TB, session *Session, images []float32) []float32 {
	t.Helper()
	result, err := scores(session, images)
	must(t, err)
	return result
}

func mustEqual(t testing.TB, got, wanted []float32) {
	t.Helper()
	if len(got) != len(wanted) {
		t.Fatalf("got %d values, wanted %d", len(got), len(wanted))
	}
	for i := range got {
		if got[i] != wanted[i] {
			t.Fatalf("value %d is %g, wanted %g", i, got[i], wanted[i])
		}
	}
}

func mustBeClose(t testing.TB, got, wanted []float32) {
	t.Helper()
	if len(got) != len(wanted) {
		t.Fatalf("got %d values, wanted %d", len(got), len(wanted))
	}
	for i := range got {
		if math.Abs(float64(got[i]-wanted[i])) > 1e-5*(1+math.Abs(float64(wanted[i]))) {
			t.Fatalf("value %d is %g, wanted about %g", i, got[i], wanted[i])
		}
	}
}

// loop returns a session that is ready to run a loop over tensors of some rows.
func loop(t testing.TB, rows int, trips int32) *Session {
	t.Helper()
	net := openModel(t, inRepository(t, "tests", "conformance", "cases", "control__loop_counted", "model.mnn"))
	session := newTestSession(t, net, &SessionConfig{Outputs: []string{"final"}, MaxLoopIterations: 1 << 40})
	input, err := session.Input("in0")
	must(t, err)
	must(t, session.ResizeInput(input, []int{rows, 3}))
	must(t, session.Resize(context.Background()))
	must(t, Write(input, make([]float32, rows*3), NCHW))
	count, err := session.Input("trips")
	must(t, err)
	must(t, Write(count, []int32{trips}, NCHW))
	return session
}

// endless returns a session whose run takes hours. Its tensors have no elements, so it needs no memory, but has no
// callbacks either.
func endless(t testing.TB) *Session { t.Helper(); return loop(t, 0, 1<<31-1) }

// lowestISA returns the instruction set that every machine has that can run this build of the library.
func lowestISA(t testing.TB) string {
	t.Helper()
	cpu, err := Processor()
	must(t, err)
	return cpu.ISAs[len(cpu.ISAs)-1]
}
