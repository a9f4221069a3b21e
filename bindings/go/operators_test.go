package mnn

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// shrink computes x - lambd above lambd, x + lambd below -lambd, else 0.
func shrink(call *OperatorCall) error {
	lambd := call.State.(float32)
	x, err := Values[float32](call.Inputs[0])
	if err != nil {
		return err
	}
	y, err := Values[float32](call.Outputs[0])
	if err != nil {
		return err
	}
	for i, value := range x {
		y[i] = 0
		if value > lambd {
			y[i] = value - lambd
		} else if value < -lambd {
			y[i] = value + lambd
		}
	}
	return nil
}

func prepareShrink(call *OperatorCall) error {
	lambd, err := call.Node.Attribute("lambd")
	call.State = lambd.Float
	return err
}

func openShrink(t testing.TB) *Interpreter {
	return openModel(t, inRepository(t, "examples", "own_operator", "shrink.mnn"))
}

// ownSession returns a session of shrink.mnn with an operator; the end of the test closes it.
func ownSession(t *testing.T, operator Operator) *Session {
	t.Helper()
	net := openShrink(t)
	must(t, net.AddOperator("SoftShrink", operator))
	session, err := net.NewSession(context.Background(), nil)
	must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func runShrink(session *Session, x float32) ([]float32, error) {
	input, err := session.Input("x")
	if err != nil {
		return nil, err
	}
	data := make([]float32, 12)
	for i := range data {
		data[i] = x
	}
	if err := Write(input, data, NCHW); err != nil {
		return nil, err
	}
	if err := session.Run(context.Background()); err != nil {
		return nil, err
	}
	output, err := session.Output("y")
	if err != nil {
		return nil, err
	}
	return Read[float32](output, NCHW)
}

func wantAll(t *testing.T, values []float32, err error, wanted float32, count int) {
	t.Helper()
	must(t, err)
	if len(values) != count {
		t.Fatalf("%d values, wanted %d", len(values), count)
	}
	for i, value := range values {
		if value != wanted {
			t.Fatalf("value %d is %v, wanted %v", i, value, wanted)
		}
	}
}

func TestAnOperatorOfTheHostRuns(t *testing.T) {
	net := openShrink(t)
	_, err := net.NewSession(context.Background(), nil)
	mustBe(t, err, StatusNotSupported)
	var computed atomic.Int32
	must(t, net.AddOperator("SoftShrink", Operator{
		Prepare: func(call *OperatorCall) error {
			node := call.Node
			if node.Name() != "shrunk" || node.Type() != "SoftShrink" || node.SchemaType() != "Extra" ||
				node.Engine() != "ONNX" || len(node.Info()) != 0 {
				t.Errorf("node %q %q %q %q %v", node.Name(), node.Type(), node.SchemaType(), node.Engine(), node.Info())
			}
			all := node.Attributes()
			if len(all) != 2 || all[0].Key != "lambd" || all[0].Float != 0.5 || all[1].Int != 13 {
				t.Errorf("attributes %+v", all)
			}
			_, err := node.Attribute("missing")
			mustBe(t, err, StatusNotFound)
			_, err = Values[float32](call.Inputs[0])
			mustBe(t, err, StatusBadState)
			return prepareShrink(call)
		},
		Compute: func(call *OperatorCall) error {
			computed.Add(1)
			_, err := Values[int32](call.Inputs[0])
			mustBe(t, err, StatusBadType)
			mustBe(t, call.Outputs[0].SetShape(1), StatusBadState)
			return shrink(call)
		},
	}))
	var sessions []*Session
	for i := 0; i < 2; i++ {
		session, err := net.NewSession(context.Background(), nil)
		must(t, err)
		sessions = append(sessions, session)
	}
	mustBe(t, net.AddOperator("Late", Operator{Compute: shrink}), StatusBadState)
	must(t, net.Close())
	var wait sync.WaitGroup
	for _, session := range sessions {
		wait.Add(1)
		go func(session *Session) {
			defer wait.Done()
			for i := 0; i < 20; i++ {
				values, err := runShrink(session, -1)
				if err != nil || values[0] != -0.5 {
					t.Error(values, err)
				}
			}
		}(session)
	}
	wait.Wait()
	for _, session := range sessions {
		must(t, session.Close())
	}
	if computed.Load() != 40 {
		t.Errorf("computed %d times", computed.Load())
	}
}

func TestNamesOfOperatorsThatAreTaken(t *testing.T) {
	net := openShrink(t)
	for _, name := range []string{"", "ReLU", "If", "a\x00b"} {
		mustBe(t, net.AddOperator(name, Operator{Compute: shrink}), StatusInvalidValue)
	}
	mustBe(t, net.AddOperator("SoftShrink", Operator{}), StatusInvalidValue)
	must(t, net.AddOperator("SoftShrink", Operator{Compute: shrink}))
	mustBe(t, net.AddOperator("SoftShrink", Operator{Compute: shrink}), StatusInvalidValue)
	must(t, net.Close())
	mustBe(t, net.AddOperator("Other", Operator{Compute: shrink}), ErrClosed)
}

func TestAnErrorOfAnOperatorEndsTheRun(t *testing.T) {
	plain := errors.New("no good")
	for _, c := range []struct {
		err    error
		status Status
	}{{plain, StatusCallbackStop}, {StatusInputData, StatusInputData}, {failf("x", StatusBadRange, "far"), StatusBadRange}} {
		session := ownSession(t, Operator{Compute: func(*OperatorCall) error { return c.err }})
		_, err := runShrink(session, 1)
		mustBe(t, err, c.status, c.err)
		if !strings.Contains(err.Error(), "'shrunk'") || !strings.Contains(err.Error(), c.err.Error()) {
			t.Error(err)
		}
	}
}

func TestAPanicOfAnOperatorIsRaisedAgain(t *testing.T) {
	broken := true
	session := ownSession(t, Operator{
		Prepare: prepareShrink,
		Compute: func(call *OperatorCall) error {
			if broken {
				panic("as it was asked to")
			}
			return shrink(call)
		},
	})
	func() {
		defer func() {
			if value := recover(); value != "as it was asked to" {
				t.Errorf("recovered %v", value)
			}
		}()
		_, err := runShrink(session, 1)
		t.Errorf("it returned %v", err)
	}()
	broken = false
	values, err := runShrink(session, 1)
	wantAll(t, values, err, 2.5, 12)
}

func TestAnOperatorUsesItsOwnSessionAndOthers(t *testing.T) {
	other := ownSession(t, Operator{Prepare: prepareShrink, Compute: shrink})
	var session *Session
	session = ownSession(t, Operator{
		Prepare: prepareShrink,
		Compute: func(call *OperatorCall) error {
			_, err := session.Ops()
			mustBe(t, err, StatusBusy)
			mustBe(t, session.Run(context.Background()), StatusBusy)
			mustBe(t, session.Close(), StatusBusy)
			values, err := runShrink(other, 1)
			wantAll(t, values, err, 2.5, 12)
			mustBe(t, session.Run(context.Background()), StatusBusy)
			return shrink(call)
		},
	})
	values, err := runShrink(session, -1)
	wantAll(t, values, err, -0.5, 12)
	run := func(OpInfo, []*Tensor) OpAction { return OpRun }
	must(t, session.RunWithCallbacks(context.Background(), run, run))
}

func TestAnOperatorShapesItsOutputs(t *testing.T) {
	var kept *OperatorCall
	session := ownSession(t, Operator{
		Shape: func(call *OperatorCall) error {
			mustBe(t, call.Inputs[0].SetShape(1), StatusBadState)
			if shape := call.Outputs[0].Shape(); shape != nil {
				t.Errorf("the output has the shape %v already", shape)
			}
			must(t, call.Outputs[0].SetShape(1, 3, 4))
			mustBe(t, call.Outputs[0].SetShape(2, -1), StatusBadRange)
			if shape := call.Outputs[0].Shape(); len(shape) != 3 || shape[0] != 1 {
				t.Errorf("the refused shape left %v", shape)
			}
			mustBe(t, call.Outputs[0].SetShape(make([]int, MaxRank+1)...), StatusBadRange)
			call.Outputs[0].SetType(call.Inputs[0].Type())
			call.Outputs[0].SetFormat(call.Inputs[0].Format())
			kept = call
			return call.Outputs[0].SetShape(2, 1, 4)
		},
		Compute: func(call *OperatorCall) error {
			y, err := Values[float32](call.Outputs[0])
			for i := range y {
				y[i] = 5
			}
			return err
		},
	})
	if kept.Node.Name() != "" || kept.Inputs[0].Shape() != nil {
		t.Error("what a function saw is used after it")
	}
	_, err := Values[float32](kept.Inputs[0])
	mustBe(t, err, ErrClosed)
	values, err := runShrink(session, 0)
	wantAll(t, values, err, 6, 8)
}

// A method of an error that panics is a panic of the operator: here that of an *Error that is nil.
func TestAPanicOfTheErrorOfAnOperator(t *testing.T) {
	broken := true
	session := ownSession(t, Operator{
		Prepare: prepareShrink,
		Compute: func(call *OperatorCall) error {
			if broken {
				var none *Error
				return none
			}
			return shrink(call)
		},
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing was raised")
			}
		}()
		_, _ = runShrink(session, 1)
	}()
	broken = false
	values, err := runShrink(session, 1)
	wantAll(t, values, err, 2.5, 12)
}

// An operator may use the interpreter, also while a Close of another goroutine waits for the operator's call.
func TestCloseWaitsForCallsThatMakeOthers(t *testing.T) {
	net := openShrink(t)
	closed := make(chan error, 1)
	must(t, net.AddOperator("SoftShrink", Operator{
		Prepare: func(call *OperatorCall) error {
			go func() { closed <- net.Close() }()
			for {
				if _, err := net.UUID(); err != nil {
					mustBe(t, err, ErrClosed)
					return prepareShrink(call)
				}
			}
		},
		Compute: shrink,
	}))
	created := make(chan error, 1)
	go func() {
		session, err := net.NewSession(context.Background(), nil)
		created <- err
		_ = session.Close()
	}()
	for _, end := range []chan error{created, closed} {
		must(t, inTime(end))
	}
}

// An addingContext calls a function when a creation looks at it, which is right before the call of C.
type addingContext struct {
	context.Context
	once sync.Once
	late func()
}

func (c *addingContext) Err() error {
	c.once.Do(c.late)
	return c.Context.Err()
}

func TestOperatorsThatAreAddedDuringACreation(t *testing.T) {
	net := openShrink(t)
	compute := func(*OperatorCall) error { panic("out of the operator") }
	ctx := &addingContext{Context: context.Background(), late: func() {
		must(t, net.AddOperator("SoftShrink", Operator{Compute: compute}))
	}}
	session, err := net.NewSession(ctx, nil)
	must(t, err)
	defer session.Close()
	defer func() {
		if got := recover(); got != "out of the operator" {
			t.Errorf("the panic is %v", got)
		}
	}()
	t.Errorf("no panic, but %v", session.Run(context.Background()))
}
