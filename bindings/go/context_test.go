package mnn

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestRunEndsWithItsContext(t *testing.T) {
	session := endless(t)
	for round := 0; round < 20; round++ {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- session.Run(ctx) }()
		cancel() // comes before the run, while it begins, or during it
		err := <-done
		mustBe(t, err, context.Canceled, StatusCancelled)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is two things", err)
		}
	}
	for round := 0; round < 20; round++ {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(round)*100*time.Microsecond)
		mustBe(t, session.Run(ctx), context.DeadlineExceeded, StatusCancelled)
		cancel()
	}
}

// One trigger is enough, before or after the begin of a run.
func TestOneTriggerIsEnough(t *testing.T) {
	session := endless(t)
	for round := 0; round < 300; round++ {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for i := 0; i < round*10; i++ {
				runtime.Gosched()
			}
			cancel()
		}()
		mustBe(t, session.Run(ctx), context.Canceled, StatusCancelled)
	}
	if waiting := runtime.NumGoroutine(); waiting > 100 {
		t.Errorf("%d goroutines are left", waiting)
	}
}

func TestCancelInTheRun(t *testing.T) {
	session := loop(t, 2, 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	err := session.RunWithCallbacks(ctx, func(OpInfo, []*Tensor) OpAction {
		if calls++; calls >= 100 {
			cancel()
			runtime.Gosched() // the trigger comes long before the end of the loop
		}
		return OpRun
	}, nil)
	mustBe(t, err, context.Canceled, StatusCancelled)
	if calls < 100 {
		t.Errorf("only %d calls", calls)
	}
}

func TestDoneContext(t *testing.T) {
	session := digitsSession(t)
	mustScore(t, session, pixels(pixelCount, 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	mustBe(t, session.Run(ctx), context.Canceled, StatusCancelled)
	mustBe(t, session.Resize(ctx), context.Canceled, StatusCancelled)
	if _, err := Read[float32](firstOutput(t, session), NCHW); err != nil {
		t.Errorf("the outputs are gone although nothing ran: %v", err)
	}
	var none context.Context
	mustBe(t, session.Run(none), StatusNullArgument)
	mustScore(t, session, pixels(pixelCount, 1))
}

// A context that stays alive does no harm, nor does one that ends after the run.
func TestContextThatLives(t *testing.T) {
	session := digitsSession(t)
	want := mustScore(t, session, pixels(pixelCount, 1))
	for round := 0; round < 100; round++ {
		ctx, cancel := context.WithCancel(context.Background())
		must(t, session.Run(ctx))
		cancel()
		mustEqual(t, mustScore(t, session, pixels(pixelCount, 1)), want)
	}
}

func TestContextEndsTheWaiting(t *testing.T) {
	session := digitsSession(t)
	began, goOn, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		first := true
		done <- session.RunWithCallbacks(context.Background(), func(OpInfo, []*Tensor) OpAction {
			if first {
				first = false
				close(began)
				<-goOn
			}
			return OpRun
		}, nil)
	}()
	<-began
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	mustBe(t, session.Run(ctx), context.DeadlineExceeded, StatusCancelled)
	mustBe(t, session.Resize(ctx), context.DeadlineExceeded, StatusCancelled)
	close(goOn)
	must(t, <-done)
}

func TestDoneContextEndsLoadsAndCreations(t *testing.T) {
	data, err := os.ReadFile(digitsPath(t))
	must(t, err)
	net := openDigits(t)
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		if cancelled {
			cancel()
		}
		file, err := NewInterpreterFromFile(ctx, digitsPath(t), &LoadOptions{Log: func(LogLevel, string) {}})
		checkCancelled(t, cancelled, file == nil, err)
		memory, err := NewInterpreterFromMemory(ctx, data, nil)
		checkCancelled(t, cancelled, memory == nil, err)
		session, err := net.NewSession(ctx, nil)
		checkCancelled(t, cancelled, session == nil, err)
		cancel()
		if !cancelled { // a context that ends after the calls does no harm
			mustScore(t, session, pixels(pixelCount, 1))
			must(t, session.Close())
			must(t, file.Close())
			must(t, memory.Close())
		}
	}
	var none context.Context
	_, err = NewInterpreterFromFile(none, digitsPath(t), nil)
	mustBe(t, err, StatusNullArgument)
	_, err = NewInterpreterFromMemory(none, data, nil)
	mustBe(t, err, StatusNullArgument)
	_, err = net.NewSession(none, nil)
	mustBe(t, err, StatusNullArgument)
}

func checkCancelled(t *testing.T, cancelled, empty bool, err error) {
	t.Helper()
	if empty != cancelled {
		t.Fatalf("cancelled: %v, nothing made: %v", cancelled, empty)
	}
	if cancelled {
		mustBe(t, err, context.Canceled, StatusCancelled)
	} else {
		must(t, err)
	}
}

// A lateContext is done once its channel was read a number of times, so that only the goroutine that waits beside the
// call sees its end.
type lateContext struct {
	context.Context // done
	looks           atomic.Int32
}

func late(looks int32) context.Context {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	ctx := &lateContext{Context: done}
	ctx.looks.Store(looks)
	return ctx
}

func (c *lateContext) Done() <-chan struct{} {
	if c.looks.Add(-1) >= 0 {
		return make(chan struct{})
	}
	return c.Context.Done()
}

func (c *lateContext) Err() error {
	if c.looks.Load() >= 0 {
		return nil
	}
	return c.Context.Err()
}

// Tokens reach the library: it ends loads, creations and resizes, when the trigger comes in time.
func TestTheLibraryEndsCalls(t *testing.T) {
	path := digitsPath(t)
	net, session := openDigits(t), digitsSession(t)
	input := firstInput(t, session)
	ended := map[string]bool{}
	note := func(what string, err error) {
		t.Helper()
		if err == nil {
			return
		}
		mustBe(t, err, context.Canceled, StatusCancelled)
		if err.(*Error).Message != context.Canceled.Error() { // the library's sentence
			ended[what] = true
		}
	}
	for round := 0; round < 5000 && len(ended) < 3; round++ {
		model, err := NewInterpreterFromFile(late(1), path, nil)
		note("load", err)
		must(t, model.Close())
		created, err := net.NewSession(late(1), nil)
		note("create", err)
		must(t, created.Close())
		must(t, session.ResizeInput(input, []int{1 + round%7, 1, 8, 8}))
		note("resize", session.Resize(late(2)))
	}
	if len(ended) < 3 {
		t.Errorf("ended only %v", ended)
	}
	must(t, session.Resize(context.Background()))
}
