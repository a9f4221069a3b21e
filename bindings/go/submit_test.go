package mnn

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func mustWrite(t testing.TB, session *Session, images []float32) {
	t.Helper()
	must(t, Write(firstInput(t, session), images, NCHW))
}

func mustRead(t testing.TB, session *Session) []float32 {
	t.Helper()
	got, err := Read[float32](firstOutput(t, session), NCHW)
	must(t, err)
	return got
}

func mustSubmit(t testing.TB, session *Session) *Pending {
	t.Helper()
	pending, err := session.Submit(context.Background())
	must(t, err)
	return pending
}

func TestSubmittedRuns(t *testing.T) {
	ctx := context.Background()
	session := digitsSession(t)
	for seed := uint32(0); seed < 4; seed++ {
		image := pixels(pixelCount, seed)
		wanted := mustScore(t, session, image)
		mustWrite(t, session, make([]float32, pixelCount))
		must(t, session.Run(ctx))
		mustWrite(t, session, image)
		pending := mustSubmit(t, session)
		if seed%2 == 0 {
			must(t, pending.Wait(ctx))
		} // else the read waits for its turn
		mustEqual(t, mustRead(t, session), wanted)
		<-pending.Done()
		must(t, pending.Wait(ctx))
		must(t, pending.Wait(ctx))
	}
}

func TestSubmittedRunsOfOneRuntime(t *testing.T) {
	ctx := context.Background()
	net := openDigits(t)
	shared, err := NewRuntime(&RuntimeConfig{Threads: 2})
	must(t, err)
	defer shared.Close()
	var sessions []*Session
	var pending []*Pending
	for i := 0; i < 5; i++ {
		session := newTestSession(t, net, &SessionConfig{Runtime: shared})
		mustWrite(t, session, pixels(pixelCount, uint32(i)))
		sessions = append(sessions, session)
		pending = append(pending, mustSubmit(t, session))
	}
	for i, session := range sessions {
		must(t, pending[i].Wait(ctx))
		mustEqual(t, mustRead(t, session), mustScore(t, digitsSession(t), pixels(pixelCount, uint32(i))))
	}
}

func TestSubmittedRunsEndWithTheirContext(t *testing.T) {
	session := endless(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pending, err := session.Submit(ctx)
	must(t, err)
	short, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	mustBe(t, pending.Wait(short), StatusCancelled, context.DeadlineExceeded)
	_, err = session.Submit(short) // it does not get its turn
	mustBe(t, err, StatusCancelled, context.DeadlineExceeded)
	select {
	case <-pending.Done():
		t.Fatal("the run is over")
	default:
	}
	cancel()
	mustBe(t, pending.Wait(context.Background()), StatusCancelled, context.Canceled)
	_, err = session.Submit(ctx)
	mustBe(t, err, StatusCancelled, context.Canceled)
	_, err = session.Submit(nil) //nolint:staticcheck
	mustBe(t, err, StatusNullArgument)
	mustBe(t, pending.Wait(nil), StatusNullArgument) //nolint:staticcheck
}

func TestCloseWaitsForSubmittedRuns(t *testing.T) {
	net := openDigits(t)
	session, err := net.NewSession(context.Background(), nil)
	must(t, err)
	pending := mustSubmit(t, session)
	must(t, session.Close())
	must(t, pending.Wait(context.Background()))
	_, err = session.Submit(context.Background())
	mustBe(t, err, ErrClosed, StatusBadHandle)
}

func TestSubmitRefusesWhatCannotRun(t *testing.T) {
	ctx := context.Background()
	session := digitsSession(t)
	must(t, session.ResizeInput(firstInput(t, session), []int{2, 1, 8, 8}))
	_, err := session.Submit(ctx)
	mustBe(t, err, StatusBadState)
	must(t, session.Resize(ctx))
	must(t, mustSubmit(t, session).Wait(ctx))
}

// mustPanic fails the test unless Wait panics with a value.
func mustPanic(t *testing.T, wanted string, pending *Pending) {
	t.Helper()
	defer func() {
		if value := recover(); value != wanted {
			t.Errorf("recovered %v", value)
		}
	}()
	_ = pending.Wait(context.Background())
	t.Error("the panic is lost")
}

var errOfTheOperator = errors.New("out of the operator")

// Errors and panics of operators are raised where the run is waited for.
func TestSubmittedRunsWithOperators(t *testing.T) {
	ctx := context.Background()
	net := openModel(t, inRepository(t, "examples", "own_operator", "shrink.mnn"))
	mode := 0
	must(t, net.AddOperator("SoftShrink", Operator{Compute: func(call *OperatorCall) error {
		switch mode {
		case 0:
			return errOfTheOperator
		case 1:
			panic("out of the operator")
		}
		return nil
	}}))
	session := newTestSession(t, net, nil)
	pending := mustSubmit(t, session)
	mustBe(t, pending.Wait(ctx), StatusCallbackStop, errOfTheOperator)
	mode = 1
	mustPanic(t, "out of the operator", mustSubmit(t, session))
	mode = 2
	must(t, mustSubmit(t, session).Wait(ctx))
}

// Panics that callbacks raise after the calls of a run are raised where the run is waited for, too.
func TestPanicsAtTheEndOfSubmittedRuns(t *testing.T) {
	var fails atomic.Bool
	shared := newTestRuntime(t, &RuntimeConfig{Threads: 2, ParallelFor: func(int, func(int)) {
		if fails.Load() {
			panic("no threads today")
		}
	}})
	session := batchSession(t, openDigits(t), &SessionConfig{Runtime: shared})
	fails.Store(true)
	mustPanic(t, "no threads today", mustSubmit(t, session))
	fails.Store(false)
	session.log = &logSink{handler: func(LogLevel, string) { panic("no logs, please") }, waiting: make([]logMessage, 1)}
	mustPanic(t, "no logs, please", mustSubmit(t, session))
	must(t, mustSubmit(t, session).Wait(context.Background()))
}

func TestAnOperatorEndsTheGoroutineOfASubmittedRun(t *testing.T) {
	net := openShrink(t)
	must(t, net.AddOperator("SoftShrink", Operator{Compute: func(*OperatorCall) error {
		runtime.Goexit()
		return nil
	}}))
	session, err := net.NewSession(context.Background(), nil)
	must(t, err)
	pending := mustSubmit(t, session)
	mustBe(t, pending.Wait(context.Background()), StatusBadState)
	mustBe(t, session.Run(context.Background()), StatusBadState)
}
