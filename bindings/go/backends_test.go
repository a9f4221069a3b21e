package mnn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// poolBackend returns a backend that computes poolings of 2x2.
func poolBackend(computed *int) HostBackend {
	return HostBackend{
		Supports: func(call *OperatorCall) error {
			if call.Node.Type() != "Pooling" {
				return fmt.Errorf("it pools: %w", StatusNotSupported)
			}
			return nil
		},
		Prepare: func(call *OperatorCall) error {
			kernel, err := call.Node.Attribute("kernelX")
			call.State = int(kernel.Int)
			return err
		},
		Compute: func(call *OperatorCall) error {
			*computed++
			x, err := Values[float32](call.Inputs[0])
			if err != nil {
				return err
			}
			y, err := Values[float32](call.Outputs[0])
			if err != nil {
				return err
			}
			in, out, k := call.Inputs[0].Shape(), call.Outputs[0].Shape(), call.State.(int)
			for i := range y {
				place := i/(out[2]*out[3])*in[2]*in[3] + i/out[3]%out[2]*k*in[3] + i%out[3]*k
				y[i] = x[place]
				for j := 1; j < k*k; j++ {
					if other := x[place+j/k*in[3]+j%k]; other > y[i] {
						y[i] = other
					}
				}
			}
			return nil
		},
	}
}

func backendSession(t *testing.T, backend HostBackend) (*Session, error) {
	t.Helper()
	runtime, err := NewRuntime(nil)
	must(t, err)
	forward, err := runtime.AddBackend("own", backend)
	must(t, err)
	if forward < ForwardUser {
		t.Fatalf("forward type %d", forward)
	}
	session, err := openDigits(t).NewSession(context.Background(), &SessionConfig{Runtime: runtime, ForwardType: forward})
	must(t, runtime.Close())
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func TestBackend(t *testing.T) {
	computed := 0
	session, err := backendSession(t, poolBackend(&computed))
	must(t, err)
	must(t, session.Run(context.Background()))
	if computed != 1 {
		t.Errorf("%d computations", computed)
	}
	ops, err := session.Ops()
	must(t, err)
	own := 0
	for _, op := range ops {
		if op.Backend == "own" {
			own++
		} else if op.Type == "Convolution" && !strings.Contains(op.Reason, "it pools") {
			t.Errorf("%s: %q", op.Name, op.Reason)
		}
	}
	if own != 1 {
		t.Errorf("%d operators run on the backend", own)
	}
}

func TestBackendErrors(t *testing.T) {
	reason := errors.New("a reason of its own")
	backend := poolBackend(new(int))
	backend.Compute = func(*OperatorCall) error { return reason }
	session, err := backendSession(t, backend)
	must(t, err)
	if err := session.Run(context.Background()); !errors.Is(err, reason) {
		t.Errorf("the run gave %v", err)
	}
	backend.Supports = func(*OperatorCall) error { return reason }
	if _, err := backendSession(t, backend); !errors.Is(err, reason) {
		t.Errorf("the creation gave %v", err)
	}
	// A refusal is not the cause of another failure.
	runtime, err := NewRuntime(nil)
	must(t, err)
	defer runtime.Close()
	forward, err := runtime.AddBackend("pools", poolBackend(new(int)))
	must(t, err)
	_, err = openDigits(t).NewSession(context.Background(),
		&SessionConfig{Runtime: runtime, ForwardType: forward, MaxMemoryBytes: 1000})
	mustBe(t, err, StatusLimitExceeded)
	if errors.Is(err, StatusNotSupported) {
		t.Errorf("the refusal is the cause of %v", err)
	}
	for _, wrong := range []HostBackend{{Compute: backend.Compute}, {Supports: backend.Supports}} {
		if _, err := runtime.AddBackend("own", wrong); !errors.Is(err, StatusInvalidValue) {
			t.Errorf("an incomplete backend gave %v", err)
		}
	}
	var none *Runtime
	_, err = none.AddBackend("own", backend)
	mustBe(t, err, ErrClosed)
	if _, err := runtime.AddBackend("cpu", backend); !errors.Is(err, StatusInvalidValue) {
		t.Errorf("a name of the library gave %v", err)
	}
}
