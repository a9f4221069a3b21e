package mnn

import (
	"context"
	"reflect"
	"runtime"
	"testing"
)

func ready(t *testing.T) *Session {
	session := digitsSession(t)
	must(t, Write(firstInput(t, session), pixels(pixelCount, 3), NCHW))
	return session
}

func goOn(OpInfo, []*Tensor) OpAction { return OpRun }

func TestCallbacksSeeTheRun(t *testing.T) {
	ctx := context.Background()
	session := ready(t)
	want := mustScore(t, session, pixels(pixelCount, 3))
	planned, err := session.Ops()
	must(t, err)
	for round := 0; round < 2; round++ {
		var before, after []OpInfo
		var last []float32
		err = session.RunWithCallbacks(ctx, func(op OpInfo, tensors []*Tensor) OpAction {
			if op.Type != "Copy" {
				before = append(before, op)
			}
			for _, tensor := range tensors {
				_, err := tensor.Shape()
				must(t, err)
			}
			return OpRun
		}, func(op OpInfo, tensors []*Tensor) OpAction {
			if op.Type != "Copy" {
				after = append(after, op)
			}
			for _, tensor := range tensors {
				values, err := Read[float32](tensor, NCHW)
				must(t, err)
				count, err := tensor.ElementCount()
				must(t, err)
				if len(values) != count {
					t.Errorf("%d of %d values", len(values), count)
				}
				last = values
			}
			return OpRun
		})
		must(t, err)
		if !reflect.DeepEqual(before, planned) || !reflect.DeepEqual(after, planned) {
			t.Errorf("planned %v\nbefore %v\nafter %v", planned, before, after)
		}
		mustEqual(t, last, want)
	}
	must(t, session.RunWithCallbacks(ctx, nil, nil))
	must(t, session.RunWithCallbacks(ctx, goOn, nil))
	must(t, session.RunWithCallbacks(ctx, nil, goOn))
}

func TestAnswersOfCallbacks(t *testing.T) {
	ctx := context.Background()
	session := ready(t)
	want := mustScore(t, session, pixels(pixelCount, 3))
	answer := func(action OpAction) OpCallback {
		return func(OpInfo, []*Tensor) OpAction { return action }
	}
	mustBe(t, session.RunWithCallbacks(ctx, answer(OpStop), nil), StatusCallbackStop)
	mustBe(t, session.RunWithCallbacks(ctx, nil, answer(OpStop)), StatusCallbackStop)
	_, err := Read[float32](firstOutput(t, session), NCHW)
	mustBe(t, err, StatusBadState)
	mustBe(t, session.RunWithCallbacks(ctx, nil, answer(OpSkip)), StatusInvalidValue)
	mustBe(t, session.RunWithCallbacks(ctx, answer(77), nil), StatusInvalidValue)
	mustBe(t, session.RunWithCallbacks(ctx, answer(-1), nil), StatusInvalidValue)
	must(t, session.RunWithCallbacks(ctx, answer(OpSkip), nil))
	mustEqual(t, mustScore(t, session, pixels(pixelCount, 3)), want)
}

func TestCallbacksMayAskButNotChange(t *testing.T) {
	ctx := context.Background()
	session := ready(t)
	net := openDigits(t)
	other := newTestSession(t, net, nil)
	input := firstInput(t, session)
	want := mustScore(t, other, pixels(pixelCount, 3))
	calls := 0
	try := func(_ OpInfo, tensors []*Tensor) OpAction {
		calls++
		_, err := session.Ops()
		must(t, err)
		_, err = session.Statistics()
		must(t, err)
		_, err = input.Shape()
		must(t, err)
		got, err := Read[float32](input, NCHW)
		must(t, err)
		mustEqual(t, got, pixels(pixelCount, 3))
		mustBe(t, session.Run(ctx), StatusBusy)
		mustBe(t, session.RunWithCallbacks(ctx, goOn, nil), StatusBusy)
		mustBe(t, session.Resize(ctx), StatusBusy)
		mustBe(t, session.ResizeInput(input, []int{2, 1, 8, 8}), StatusBusy)
		mustBe(t, Write(input, pixels(pixelCount, 4), NCHW), StatusBusy)
		_, err = session.Cache()
		must(t, err)
		mustBe(t, net.UpdateCacheFile(session), StatusBadState) // no file is named
		setup, err := session.Properties()
		must(t, err)
		if setup.ForwardType != ForwardCPU || setup.Reason != "" {
			t.Errorf("runs on %+v", setup)
		}
		mustBe(t, session.Close(), StatusBusy)
		for _, tensor := range tensors {
			mustBe(t, tensor.WriteBytes(nil, NCHW), StatusBadState)
			mustBe(t, session.ResizeInput(tensor, []int{1}), StatusBadHandle)
		}
		mustEqual(t, mustScore(t, other, pixels(pixelCount, 3)), want)
		return OpRun
	}
	must(t, session.RunWithCallbacks(ctx, try, try))
	if calls == 0 {
		t.Error("no callback")
	}
	got, err := Read[float32](firstOutput(t, session), NCHW)
	must(t, err)
	mustEqual(t, got, want)
}

// A callback runs another session, whose callback uses the first session again.
func TestCallbacksInCallbacks(t *testing.T) {
	ctx := context.Background()
	outer, inner := ready(t), ready(t)
	calls := 0
	must(t, outer.RunWithCallbacks(ctx, func(OpInfo, []*Tensor) OpAction {
		must(t, inner.RunWithCallbacks(ctx, func(OpInfo, []*Tensor) OpAction {
			calls++
			mustBe(t, outer.Run(ctx), StatusBusy)
			mustBe(t, inner.Run(ctx), StatusBusy)
			_, err := outer.Ops()
			must(t, err)
			return OpRun
		}, nil))
		must(t, inner.Run(ctx))
		mustBe(t, outer.Run(ctx), StatusBusy)
		return OpRun
	}, nil))
	if calls == 0 {
		t.Error("no callback")
	}
	must(t, outer.Run(ctx))
}

func TestTensorsEndWithTheirCallback(t *testing.T) {
	session := ready(t)
	var kept []*Tensor
	must(t, session.RunWithCallbacks(context.Background(), func(_ OpInfo, tensors []*Tensor) OpAction {
		for _, old := range kept {
			_, err := old.Shape()
			mustBe(t, err, ErrClosed)
		}
		kept = append(kept, tensors...)
		return OpRun
	}, nil))
	if len(kept) == 0 {
		t.Fatal("no tensors")
	}
	for _, old := range kept {
		_, err := Read[float32](old, NCHW)
		mustBe(t, err, ErrClosed)
		_, err = old.Name()
		mustBe(t, err, ErrClosed)
	}
}

func TestPanicsComeOut(t *testing.T) {
	ctx := context.Background()
	session := ready(t)
	want := mustScore(t, session, pixels(pixelCount, 3))
	for _, value := range []any{"oh", 7, context.Canceled} {
		for after := 0; after < 2; after++ {
			calls := 0
			panics := func(OpInfo, []*Tensor) OpAction {
				calls++
				panic(value)
			}
			func() {
				defer func() {
					if got := recover(); got != value {
						t.Errorf("recovered %v, wanted %v", got, value)
					}
				}()
				if after == 1 {
					_ = session.RunWithCallbacks(ctx, nil, panics)
				} else {
					_ = session.RunWithCallbacks(ctx, panics, nil)
				}
				t.Error("no panic")
			}()
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
			mustEqual(t, mustScore(t, session, pixels(pixelCount, 3)), want)
		}
	}
	func() {
		defer func() {
			if _, ok := recover().(runtime.Error); !ok {
				t.Error("no runtime error")
			}
		}()
		_ = session.RunWithCallbacks(ctx, func(OpInfo, []*Tensor) OpAction {
			var none *Tensor
			none.session = nil
			return OpRun
		}, nil)
	}()
	mustEqual(t, mustScore(t, session, pixels(pixelCount, 3)), want)
}

// After a callback that does not return, only its session is lost.
func TestCallbackEndsItsGoroutine(t *testing.T) {
	ctx := context.Background()
	net := openDigits(t)
	open := func() *Session {
		session, err := net.NewSession(ctx, nil)
		must(t, err)
		return session
	}
	session, other := open(), open()
	input := firstInput(t, session)
	for _, run := range []func(OpCallback) error{
		func(c OpCallback) error { return session.RunWithCallbacks(ctx, c, nil) },
		func(c OpCallback) error { return other.RunWithCallbacks(ctx, nil, c) },
	} {
		run, done := run, make(chan bool)
		go func() {
			defer close(done)
			_ = run(func(OpInfo, []*Tensor) OpAction {
				runtime.Goexit()
				return OpRun
			})
			t.Error("came back")
		}()
		<-done
	}
	mustBe(t, session.Run(ctx), StatusBadState)
	mustBe(t, other.Run(ctx), StatusBadState)
	mustBe(t, Write(input, pixels(pixelCount, 1), NCHW), StatusBadState)
	_, err := input.Shape()
	mustBe(t, err, StatusBadState)
	mustBe(t, session.Close(), StatusBusy)
	mustBe(t, session.Close(), StatusBusy)
	mustBe(t, session.Run(ctx), StatusBadState)
	mustScore(t, newTestSession(t, net, nil), pixels(pixelCount, 1))
}
