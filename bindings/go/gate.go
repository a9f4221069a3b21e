// Calls of an object, and its end.

package mnn

import "sync"

// A gate counts the calls that use an object, so that Close can wait for them. Unlike a sync.RWMutex it makes no call
// wait: within a call that Close waits for, an operator of the host may make another one. The zero value is closed.
type gate struct {
	closing sync.Mutex // held by Close, for the next Close to wait
	mutex   sync.Mutex // protects open, and calls against an entry while Close begins to wait
	open    bool
	calls   sync.WaitGroup
}

// enter reports whether a call may begin; leave ends it.
func (g *gate) enter() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.open {
		g.calls.Add(1)
	}
	return g.open
}

func (g *gate) leave() { g.calls.Done() }

// set opens or closes the gate, and reports whether it was open.
func (g *gate) set(open bool) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	former := g.open
	g.open = open
	return former
}

// close refuses further calls, waits for those that are running, and frees the object. Where that fails, the gate opens
// again. Does nothing when the gate is closed.
func (g *gate) close(free func() error) error {
	g.closing.Lock()
	defer g.closing.Unlock()
	if !g.set(false) {
		return nil
	}
	g.calls.Wait()
	err := free()
	if err != nil {
		g.set(true)
	}
	return err
}
