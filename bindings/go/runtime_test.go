package mnn

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

const runtimeBatch = 48

// batchSession returns a session that takes runtimeBatch images at once.
func batchSession(t testing.TB, net *Interpreter, config *SessionConfig) *Session {
	t.Helper()
	session := newTestSession(t, net, config)
	must(t, session.ResizeInput(firstInput(t, session), []int{runtimeBatch, 1, 8, 8}))
	must(t, session.Resize(context.Background()))
	return session
}

func batchScores(t testing.TB, session *Session) []float32 {
	t.Helper()
	return mustScore(t, session, pixels(runtimeBatch*pixelCount, 7))
}

func newTestRuntime(t testing.TB, config *RuntimeConfig) *Runtime {
	t.Helper()
	runtime, err := NewRuntime(config)
	must(t, err)
	t.Cleanup(func() { must(t, runtime.Close()) })
	return runtime
}

func TestSessionsShareARuntime(t *testing.T) {
	net := openDigits(t)
	want := batchScores(t, batchSession(t, net, nil))
	before := threadCount(t)
	runtime := newTestRuntime(t, &RuntimeConfig{Threads: 3, Power: PowerHigh})
	var sessions []*Session
	for i := 0; i < 40; i++ {
		sessions = append(sessions, batchSession(t, net, &SessionConfig{Runtime: runtime, Threads: i % 5}))
	}
	// Go creates threads itself, but not one for each session.
	if now := threadCount(t); now > before+20 {
		t.Errorf("%d threads instead of %d", now, before)
	}
	must(t, runtime.Close())
	must(t, runtime.Close())
	for _, session := range sessions {
		mustEqual(t, batchScores(t, session), want)
	}
	_, err := net.NewSession(context.Background(), &SessionConfig{Runtime: runtime})
	mustBe(t, err, ErrClosed)
}

// threadCount returns the number of threads of this process, or skips the test where the system does not list them.
func threadCount(t testing.TB) int {
	t.Helper()
	count, err := threadsOfProcess()
	if err != nil {
		t.Skip(err)
	}
	return count
}

func TestRuntimesThatAreRefused(t *testing.T) {
	inline := func(count int, task func(int)) {}
	for _, c := range []struct {
		config RuntimeConfig
		want   Status
	}{
		{RuntimeConfig{Threads: -1}, StatusBadRange},
		{RuntimeConfig{Threads: MaxThreads + 1}, StatusBadRange},
		{RuntimeConfig{Threads: 1 << 40}, StatusBadRange},
		{RuntimeConfig{Power: 9}, StatusInvalidValue},
		{RuntimeConfig{Threads: 2, Cores: []int32{1 << 20}}, StatusInvalidValue},
		{RuntimeConfig{Cores: []int32{-1}}, StatusBadRange},
		{RuntimeConfig{ParallelFor: inline, Power: PowerLow}, StatusInvalidValue},
		{RuntimeConfig{ParallelFor: inline, Cores: []int32{0}}, StatusInvalidValue},
		{RuntimeConfig{LogLevel: 9}, StatusInvalidValue},
		{RuntimeConfig{Vulkan: &VulkanObjects{Lock: &sync.Mutex{}}}, StatusNullArgument},
		{RuntimeConfig{Device: "a\x00b"}, StatusInvalidValue},
	} {
		_, err := NewRuntime(&c.config)
		mustBe(t, err, c.want)
	}
	runtime := newTestRuntime(t, nil)
	_, err := openDigits(t).NewSession(context.Background(), &SessionConfig{Runtime: runtime, Power: PowerLow})
	mustBe(t, err, StatusInvalidValue)
}

func TestGoroutinesAsThreads(t *testing.T) {
	net := openDigits(t)
	want := batchScores(t, batchSession(t, net, nil))
	var calls, fails atomic.Int32
	runtime := newTestRuntime(t, &RuntimeConfig{
		Threads: 3,
		ParallelFor: func(count int, task func(int)) {
			calls.Add(1)
			var all sync.WaitGroup
			for i := 1; i < count; i++ {
				all.Add(1)
				go func(i int) {
					defer all.Done()
					task(i)
				}(i)
			}
			task(0)
			all.Wait()
			if fails.Load() == 1 {
				panic("no threads today")
			}
		},
	})
	session := batchSession(t, net, &SessionConfig{Runtime: runtime})
	mustEqual(t, batchScores(t, session), want)
	if calls.Load() == 0 {
		t.Error("ParallelFor was not called")
	}
	fails.Store(1)
	func() {
		defer func() {
			if got := recover(); got != "no threads today" {
				t.Errorf("the panic is %v", got)
			}
		}()
		_ = session.Run(context.Background())
	}()
	fails.Store(0)
	mustEqual(t, batchScores(t, session), want)
}

// A ParallelFor that ends its goroutine leaves nothing to raise in another call.
func TestAParallelForEndsItsGoroutine(t *testing.T) {
	shared := newTestRuntime(t, &RuntimeConfig{Threads: 2, ParallelFor: func(int, func(int)) { runtime.Goexit() }})
	net := openDigits(t)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = net.NewSession(context.Background(), &SessionConfig{Runtime: shared})
		t.Error("came back")
	}()
	<-over
	shared.finish()
}

// A countingAllocator allocates pages of the system and counts them.
type countingAllocator struct {
	mutex sync.Mutex
	held  map[unsafe.Pointer][]byte
	full  atomic.Bool
	wrong atomic.Bool
}

func (a *countingAllocator) Allocate(size, alignment uintptr) unsafe.Pointer {
	if a.full.Load() {
		return nil
	}
	pages, err := allocatePages(int(size))
	if err != nil {
		return nil
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	memory := unsafe.Pointer(&pages[0])
	a.held[memory] = pages
	return memory
}

func (a *countingAllocator) Release(memory unsafe.Pointer, size, alignment uintptr) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	pages := a.held[memory]
	if uintptr(len(pages)) != size || freePages(pages) != nil {
		a.wrong.Store(true)
	}
	delete(a.held, memory)
}

func (a *countingAllocator) blocks() int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return len(a.held)
}

func TestAllocator(t *testing.T) {
	net := openDigits(t)
	want := batchScores(t, batchSession(t, openDigits(t), nil))
	allocator := &countingAllocator{held: map[unsafe.Pointer][]byte{}}
	runtime := newTestRuntime(t, &RuntimeConfig{Allocator: allocator})
	allocator.full.Store(true)
	_, err := net.NewSession(context.Background(), &SessionConfig{Runtime: runtime})
	mustBe(t, err, StatusOutOfMemory)
	allocator.full.Store(false)
	session := batchSession(t, net, &SessionConfig{Runtime: runtime})
	mustEqual(t, batchScores(t, session), want)
	if allocator.blocks() == 0 {
		t.Error("the allocator was not asked")
	}
	must(t, session.Close())
	if allocator.blocks() != 0 || allocator.wrong.Load() {
		t.Errorf("%d blocks are left, or one came back with another size", allocator.blocks())
	}
}

func TestMessagesOfARuntime(t *testing.T) {
	var messages []string
	runtime := newTestRuntime(t, &RuntimeConfig{Threads: 2, LogLevel: LogInfo,
		Log: func(level LogLevel, message string) { messages = append(messages, message) }})
	if len(messages) != 1 || messages[0] != "runtime created: 2 threads, memory of the library" {
		t.Errorf("got %q", messages)
	}
	newTestSession(t, openDigits(t), &SessionConfig{Runtime: runtime, ForwardType: ForwardVulkan,
		AllowFallback: true, Device: "a device that is nowhere"})
	if len(messages) != 2 {
		t.Errorf("got %q", messages)
	}
}

// Messages arrive when a creation has left the interpreter and the runtime, so that their handler may close both.
func TestMessagesOfARuntimeComeWithNothingHeld(t *testing.T) {
	net := openDigits(t)
	closes := func(LogLevel, string) {}
	shared := newTestRuntime(t, &RuntimeConfig{LogLevel: LogInfo,
		Log: func(level LogLevel, message string) { closes(level, message) }})
	closes = func(LogLevel, string) { must(t, net.Close()); must(t, shared.Close()) }
	created := make(chan error, 1)
	go func() {
		session, err := net.NewSession(context.Background(), &SessionConfig{Runtime: shared, ForwardType: ForwardVulkan,
			AllowFallback: true, Device: "a device that is nowhere"})
		created <- err
		_ = session.Close()
	}()
	must(t, inTime(created))
	_, err := net.NewSession(context.Background(), nil)
	mustBe(t, err, ErrClosed)
}

// The panic of a log function does not keep the messages of other runtimes.
func TestMessagesBesideAPanic(t *testing.T) {
	var got [2]int
	runtimes, armed := [2]*Runtime{}, false
	for i := range runtimes {
		i := i
		runtimes[i] = newTestRuntime(t, &RuntimeConfig{LogLevel: LogInfo, Log: func(LogLevel, string) {
			if armed {
				got[i]++
				panic("out of the log")
			}
		}})
	}
	armed = true
	config := func(outputs []string, shared *Runtime) SessionConfig {
		return SessionConfig{Outputs: outputs, Runtime: shared, ForwardType: ForwardVulkan, AllowFallback: true,
			Device: "a device that is nowhere"}
	}
	func() {
		defer func() {
			if value := recover(); value != "out of the log" {
				t.Errorf("the panic is %v", value)
			}
		}()
		_, err := openDigits(t).NewSessionPaths(context.Background(),
			config([]string{"m"}, runtimes[0]), config(nil, runtimes[1]))
		t.Errorf("no panic, but %v", err)
	}()
	armed = false
	if got != [2]int{1, 1} {
		t.Errorf("the functions were called %v times", got)
	}
}
