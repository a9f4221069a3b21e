package mnn

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

// Runs everything again while the garbage collector runs continuously and most objects are dropped unclosed.
func TestUnderTheCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	over := make(chan struct{})
	var collector sync.WaitGroup
	collector.Add(1)
	go func() {
		defer collector.Done()
		for {
			select {
			case <-over:
				return
			default:
				runtime.GC()
			}
		}
	}()
	want := mustScore(t, digitsSession(t), pixels(pixelCount, 1))
	inParallel(3, func(i int) {
		for round := 0; round < 15; round++ {
			net, err := NewInterpreterFromFile(context.Background(), digitsPath(t), &LoadOptions{Log: func(LogLevel, string) {}})
			if err != nil {
				t.Error(err)
				return
			}
			session, err := net.NewSession(context.Background(), &SessionConfig{
				Threads: 1 + i, Outputs: []string{"scores"}, SaveTensors: []string{"image"},
			})
			if err != nil {
				t.Error(err)
				return
			}
			if round%3 == 0 {
				net.Close()
			}
			got, err := scores(session, pixels(pixelCount, 1))
			if err != nil {
				t.Error(err)
				return
			}
			for c := range got {
				if got[c] != want[c] {
					t.Errorf("score %d is %g, wanted %g", c, got[c], want[c])
					return
				}
			}
			ctx, cancel := context.WithCancel(context.Background())
			if err := session.RunWithCallbacks(ctx, func(_ OpInfo, tensors []*Tensor) OpAction {
				for _, tensor := range tensors {
					if _, err := Read[float32](tensor, NHWC); err != nil {
						t.Error(err)
					}
				}
				return OpRun
			}, nil); err != nil {
				t.Error(err)
			}
			cancel()
			if round%3 == 1 {
				session.Close()
			}
		}
	})
	close(over)
	collector.Wait()
}
