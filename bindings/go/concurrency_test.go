package mnn

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// inParallel runs the function on several goroutines and returns when all are done.
func inParallel(goroutines int, body func(goroutine int)) {
	var group sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			body(i)
		}(i)
	}
	group.Wait()
}

func TestSessionsRunAtTheSameTime(t *testing.T) {
	net := openDigits(t)
	const goroutines, rounds = 4, 50
	var want [goroutines][]float32
	for i := range want {
		want[i] = mustScore(t, newTestSession(t, net, nil), pixels(pixelCount, uint32(i)))
	}
	inParallel(goroutines, func(i int) {
		session, err := net.NewSession(context.Background(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer session.Close()
		for round := 0; round < rounds; round++ {
			got, err := scores(session, pixels(pixelCount, uint32(i)))
			if err != nil {
				t.Error(err)
				return
			}
			for c := range got {
				if got[c] != want[i][c] {
					t.Errorf("score %d is %g, wanted %g", c, got[c], want[i][c])
					return
				}
			}
		}
	})
}

// Sessions do not wait for each other: the second one runs while the first one is in the middle of its run.
func TestSessionsDoNotWait(t *testing.T) {
	net := openDigits(t)
	first, second := newTestSession(t, net, nil), newTestSession(t, net, nil)
	met := make(chan bool)
	meet := func(send bool) OpCallback {
		once := false
		return func(OpInfo, []*Tensor) OpAction {
			if !once && send {
				met <- true
			} else if !once {
				<-met
			}
			once = true
			return OpRun
		}
	}
	inParallel(2, func(i int) {
		session := []*Session{first, second}[i]
		if err := session.RunWithCallbacks(context.Background(), meet(i == 0), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestOneSessionOnManyGoroutines(t *testing.T) {
	session := digitsSession(t)
	mustScore(t, session, pixels(pixelCount, 1))
	inParallel(8, func(i int) {
		for round := 0; round < 30; round++ {
			var err error
			switch (i + round) % 5 {
			case 0:
				_, err = scores(session, pixels(pixelCount, uint32(i)))
			case 1:
				_, err = session.Ops()
			case 2:
				err = session.RunWithCallbacks(context.Background(), goOn, func(OpInfo, []*Tensor) OpAction {
					_, err := session.Statistics()
					if err != nil {
						t.Error(err)
					}
					return OpRun
				})
			case 3:
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				err = session.Run(ctx)
			case 4:
				var input *Tensor
				if input, err = session.Input("image"); err == nil {
					_, err = Read[float32](input, NCHW)
				}
			}
			// Outputs that a cancelled run left without values may be seen.
			if err != nil && !errors.Is(err, StatusCancelled) && !errors.Is(err, StatusBadState) {
				t.Error(err)
			}
		}
	})
}

// A handle is closed while others use it: they end with ErrClosed, and nothing else happens.
func TestCloseWhileInUse(t *testing.T) {
	for round := 0; round < 20; round++ {
		net := openDigits(t)
		session := newTestSession(t, net, nil)
		inParallel(7, func(i int) {
			if i == 0 {
				_, _ = scores(session, pixels(pixelCount, 1)) // the result does not matter here
				for _, close := range []func() error{session.Close, net.Close} {
					if err := close(); err != nil {
						t.Error(err)
					}
				}
				return
			}
			for {
				var err error
				switch i {
				case 1:
					_, err = scores(session, pixels(pixelCount, 1))
				case 2:
					_, err = session.Ops()
				case 3:
					err = session.RunWithCallbacks(context.Background(), goOn, goOn)
				case 4:
					var own *Session
					if own, err = net.NewSession(context.Background(), nil); err == nil {
						_, err = scores(own, pixels(pixelCount, 1))
						own.Close()
					}
				case 5:
					err = net.UpdateCacheFile(session) // StatusBadState: no file is named
				case 6:
					ctx, cancel := context.WithCancel(context.Background())
					go cancel()
					err = session.Run(ctx)
				}
				if errors.Is(err, ErrClosed) {
					return
				}
				// Outputs that a cancelled run left without values may be seen.
				if err != nil && !errors.Is(err, StatusCancelled) && !errors.Is(err, StatusBadState) {
					t.Error(err)
					return
				}
			}
		})
	}
}
