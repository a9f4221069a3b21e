package mnn

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// useClosed calls every function of a session and its tensors.
func useClosed(t *testing.T, session *Session, tensor *Tensor) {
	t.Helper()
	ctx := context.Background()
	closed := func(err error) { t.Helper(); mustBe(t, err, ErrClosed, StatusBadHandle) }
	closed(session.Run(ctx))
	closed(session.RunWithCallbacks(ctx, nil, nil))
	_, err := session.Submit(ctx)
	closed(err)
	closed(session.Resize(ctx))
	closed(session.ResizeInput(&Tensor{session: session}, []int{1}))
	_, err = session.NeedsResize()
	closed(err)
	_, err = session.Input("")
	closed(err)
	_, err = session.InputAt(0)
	closed(err)
	_, err = session.Inputs()
	closed(err)
	_, err = session.Output("")
	closed(err)
	_, err = session.OutputAt(0)
	closed(err)
	_, err = session.Outputs()
	closed(err)
	_, err = session.Cache()
	closed(err)
	_, err = session.CacheAccepted()
	closed(err)
	_, err = session.Properties()
	closed(err)
	_, err = session.Statistics()
	closed(err)
	_, _, err = session.FLOPs()
	closed(err)
	_, err = session.Ops()
	closed(err)
	_, err = tensor.Name()
	closed(err)
	_, err = tensor.Shape()
	closed(err)
	_, err = tensor.Type()
	closed(err)
	_, err = tensor.Format()
	closed(err)
	_, err = tensor.ElementCount()
	closed(err)
	_, err = tensor.ByteSize(NCHW)
	closed(err)
	closed(Write(tensor, make([]float32, pixelCount), NCHW))
	closed(tensor.WriteBytes(make([]byte, pixelCount), NCHW))
	_, err = Read[float32](tensor, NCHW)
	closed(err)
	closed(ReadInto(tensor, make([]float32, pixelCount), NCHW))
	closed(tensor.ReadBytes(make([]byte, pixelCount), NCHW))
	must(t, session.Close())
}

func useClosedInterpreter(t *testing.T, net *Interpreter, session *Session) {
	t.Helper()
	closed := func(err error) { t.Helper(); mustBe(t, err, ErrClosed, StatusBadHandle) }
	_, err := net.NewSession(context.Background(), nil)
	closed(err)
	_, err = net.Inputs()
	closed(err)
	_, err = net.Outputs()
	closed(err)
	_, err = net.Ops()
	closed(err)
	_, err = net.UUID()
	closed(err)
	_, err = net.ModelVersion()
	closed(err)
	_, err = net.BizCode()
	closed(err)
	_, err = net.ParameterCount()
	closed(err)
	closed(net.SetCache(nil))
	closed(net.SetCacheFile(""))
	closed(net.UpdateCacheFile(session))
	must(t, net.Close())
}

func TestUseAfterClose(t *testing.T) {
	net := openDigits(t)
	session := newTestSession(t, net, nil)
	tensor := firstInput(t, session)
	must(t, session.Close())
	useClosed(t, session, tensor)
	mustBe(t, net.UpdateCacheFile(session), ErrClosed)
	other := newTestSession(t, net, nil)
	must(t, net.Close())
	useClosedInterpreter(t, net, other)
	mustScore(t, other, pixels(pixelCount, 1))
}

func TestZeroValuesAndNil(t *testing.T) {
	useClosed(t, nil, nil)
	useClosed(t, &Session{}, &Tensor{})
	useClosedInterpreter(t, nil, &Session{})
	useClosedInterpreter(t, &Interpreter{}, nil)
}

func TestAnyOrderOfClosing(t *testing.T) {
	want := mustScore(t, digitsSession(t), pixels(pixelCount, 1))
	for order := 0; order < 6; order++ {
		net := openDigits(t)
		a, b := newTestSession(t, net, nil), newTestSession(t, net, &SessionConfig{Threads: 2})
		mustEqual(t, mustScore(t, a, pixels(pixelCount, 1)), want)
		closers := []func() error{net.Close, a.Close, b.Close}
		first := order % 3
		rest := []int{(first + 1 + order/3) % 3, (first + 2 - order/3) % 3}
		must(t, closers[first]())
		if first != 2 {
			mustEqual(t, mustScore(t, b, pixels(pixelCount, 1)), want)
		}
		for round := 0; round < 2; round++ {
			for _, i := range rest {
				must(t, closers[i]())
			}
			must(t, closers[first]())
		}
	}
}

// Close waits for a running call.
func TestCloseWaits(t *testing.T) {
	session := digitsSession(t)
	began, goOn, ran := make(chan bool), make(chan bool), make(chan error, 1)
	events := make(chan string, 2)
	go func() {
		first := true
		ran <- session.RunWithCallbacks(context.Background(), nil, func(OpInfo, []*Tensor) OpAction {
			if first {
				first = false
				close(began)
				<-goOn
				events <- "in the run"
			}
			return OpRun
		})
	}()
	<-began
	closed := make(chan error)
	go func() {
		err := session.Close()
		events <- "closed"
		closed <- err
	}()
	for i := 0; i < 1000; i++ {
		runtime.Gosched()
	}
	close(goOn)
	must(t, <-closed)
	must(t, <-ran)
	if first, second := <-events, <-events; first != "in the run" || second != "closed" {
		t.Errorf("%s, then %s", first, second)
	}
}

// A session is busy because of another owner of its handle: Close reports it and does not free the session, and the
// garbage collector tries again until it can be freed.
func TestCloseOfABusySession(t *testing.T) {
	session, err := openDigits(t).NewSession(context.Background(), nil)
	must(t, err)
	want := mustScore(t, session, pixels(pixelCount, 1))
	first := true
	must(t, session.RunWithCallbacks(context.Background(), func(OpInfo, []*Tensor) OpAction {
		if !first {
			return OpRun
		}
		first = false
		tried := make(chan bool)
		go func() {
			defer close(tried)
			other := newSession(session.handle, session.log, nil)
			err := other.Close()
			if !errors.Is(err, StatusBusy) || !strings.Contains(err.Error(), "mnn_session_run_with_options") {
				t.Errorf("closed in a run: %v", err)
			}
			if other.handle == 0 {
				t.Error("the handle is gone although the session is there")
			}
			runtime.SetFinalizer(other, nil)
			finalizeSession(other) // the call that the collector makes; it fails, and sets the finalizer again
		}()
		<-tried
		return OpRun
	}, nil))
	got, err := Read[float32](firstOutput(t, session), NCHW)
	must(t, err)
	mustEqual(t, got, want)
	for i := 0; err == nil; i++ {
		if i == 1000 {
			t.Fatal("never freed")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
		_, err = session.NeedsResize()
	}
	mustBe(t, err, StatusBadHandle)
	mustBe(t, session.Close(), StatusBadHandle)
	runtime.SetFinalizer(session, nil)
}

// collected runs the garbage collector until the channel is closed.
func collected(t *testing.T, freed <-chan struct{}) {
	t.Helper()
	for i := 0; i < 1000; i++ {
		runtime.GC()
		select {
		case <-freed:
			return
		default:
			time.Sleep(time.Millisecond)
		}
	}
	t.Error("never freed")
}

// watched reports when C has released an interpreter and its sessions: then C ends the log, to which the library held
// the only reference besides this test's.
func watched(t *testing.T) (*Interpreter, <-chan struct{}) {
	net, err := NewInterpreterFromFile(context.Background(), digitsPath(t), &LoadOptions{Log: func(LogLevel, string) {}})
	must(t, err)
	freed := make(chan struct{})
	runtime.SetFinalizer(net.log, func(*logSink) { close(freed) })
	return net, freed
}

func TestWhatIsDroppedIsFreed(t *testing.T) {
	drop := func() <-chan struct{} {
		net, freed := watched(t)
		for i := 0; i < 3; i++ {
			session, err := net.NewSession(context.Background(), nil)
			must(t, err)
			mustScore(t, session, pixels(pixelCount, 1))
		}
		return freed
	}
	collected(t, drop())
}

func TestWhatIsClosedIsFreed(t *testing.T) {
	net, freed := watched(t)
	session, err := net.NewSession(context.Background(), nil)
	must(t, err)
	must(t, net.Close())
	must(t, session.Close())
	sink := net.log
	net, session = nil, nil
	sink.deliver()
	sink = nil
	collected(t, freed)
}

// A tensor keeps its session alive, and with it everything that it needs.
func TestTensorKeepsItsSession(t *testing.T) {
	open := func() (*Tensor, *Tensor) {
		net, err := NewInterpreterFromFile(context.Background(), digitsPath(t), nil)
		must(t, err)
		session, err := net.NewSession(context.Background(), nil)
		must(t, err)
		mustScore(t, session, pixels(pixelCount, 1))
		return firstInput(t, session), firstOutput(t, session)
	}
	input, output := open()
	want, err := Read[float32](output, NCHW)
	must(t, err)
	for i := 0; i < 20; i++ {
		runtime.GC()
		must(t, Write(input, pixels(pixelCount, 1), NCHW))
		must(t, output.session.Run(context.Background()))
		got, err := Read[float32](output, NCHW)
		must(t, err)
		mustEqual(t, got, want)
	}
}

// An interpreter whose creation fails leaves nothing behind.
func TestFailedLoadKeepsNoLog(t *testing.T) {
	freed := make(chan struct{})
	func() {
		box := &struct{ messages [8]string }{}
		runtime.SetFinalizer(box, func(*struct{ messages [8]string }) { close(freed) })
		options := &LoadOptions{Log: func(_ LogLevel, message string) { box.messages[0] = message }}
		_, err := NewInterpreterFromFile(context.Background(), os.DevNull, options)
		mustBe(t, err)
	}()
	collected(t, freed)
}
