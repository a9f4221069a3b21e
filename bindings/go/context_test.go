package mnn

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestRunEndsWithItsContext(t *testing.T) {
	session := endless(t)
	for round := 0; round < 20; round++ {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- session.Run(ctx) }()
		cancel() // before the run began, while it begins, or in it
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

// A run forgets an interrupt that came before it began: it has to come again.
func TestInterruptsAreRepeated(t *testing.T) {
	session := endless(t)
	ctx, cancel := context.WithCancel(context.Background())
	stop := session.interruptWhenDone(ctx)
	defer stop()
	cancel()
	time.Sleep(20 * time.Millisecond) // time for the first one
	mustBe(t, session.Run(context.Background()), StatusCancelled)
}

func TestCancelInTheRun(t *testing.T) {
	session := loop(t, 2, 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	err := session.RunWithCallbacks(ctx, func(OpInfo, []*Tensor) OpAction {
		if calls++; calls >= 100 {
			cancel()
			time.Sleep(time.Millisecond) // far from the end of the loop when the interrupt comes
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

// A context that lives on does no harm, and one that ends after the run neither.
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

func TestInterrupt(t *testing.T) {
	session := loop(t, 2, 1000)
	must(t, session.Interrupt()) // nothing happens
	calls := 0
	err := session.RunWithCallbacks(context.Background(), func(OpInfo, []*Tensor) OpAction {
		calls++
		must(t, session.Interrupt())
		return OpRun
	}, nil)
	mustBe(t, err, StatusCancelled)
	if errors.Is(err, context.Canceled) || calls == 0 {
		t.Errorf("%v after %d calls", err, calls)
	}
	session = endless(t)
	done := make(chan error)
	go func() { done <- session.Run(context.Background()) }()
	for {
		must(t, session.Interrupt())
		select {
		case err := <-done:
			mustBe(t, err, StatusCancelled)
			return
		default:
		}
	}
}
