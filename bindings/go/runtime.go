// Runtimes: threads, memory and a device that sessions share.

package mnn

// #include "shims.h"
import "C"

import (
	"math"
	"runtime"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A RuntimeConfig describes a [Runtime]. The zero value is the default of every field: one thread, the caller's.
type RuntimeConfig struct {
	Threads int       // CPU threads, including the caller's of a run, at most MaxThreads; 0 means 1
	Power   PowerMode // on which kinds of cores the workers compute; not with ParallelFor
	Cores   []int32   // the only cores that workers may use, by the system's numbers; empty: any. Not with ParallelFor

	// ParallelFor replaces the workers: it calls task once with each number below count, on any goroutines, and returns
	// when all of these calls have returned. Numbers that it skips are computed on the thread that runs the session. It
	// may be called by several goroutines at once. A panic in it is raised again when a call that uses the runtime
	// returns. It must not use sessions of the runtime, nor create or close objects of this package.
	ParallelFor func(count int, task func(index int))

	// Allocator allocates memory for tensors, inputs and weights; nil: the library does.
	Allocator Allocator

	// Device chooses the GPU of sessions that name none, see SessionConfig.
	Device string

	// CPUCosts is the result of Calibrate on this machine; "": the costs that the library knows. They choose between
	// algorithms of sessions on the CPU, so results may differ in their last bits.
	CPUCosts string

	// Vulkan are objects of the caller for all Vulkan sessions; nil: the library makes them.
	Vulkan *VulkanObjects

	LogLevel LogLevel // messages above it are not sent

	// Log gets the messages about the runtime and the places where its sessions run, like LoadOptions.Log.
	Log func(level LogLevel, message string)
}

// An Allocator allocates memory of C, not of Go. Its methods may be called by several threads at once and must not
// panic, nor use objects of this package.
type Allocator interface {
	// Allocate returns size bytes at a multiple of alignment, which is a power of two; nil when there is no memory.
	Allocate(size, alignment uintptr) unsafe.Pointer
	// Release frees memory that Allocate returned for these numbers.
	Release(memory unsafe.Pointer, size, alignment uintptr)
}

// VulkanObjects are handles of Vulkan that the caller made and keeps until the runtime and its last session are closed.
// They come from the loader libvulkan.so.1; instance and device were created for Vulkan 1.1 or later. The library
// destroys none of them, and uses the queue within calls that create, resize or run a session.
type VulkanObjects struct {
	Instance, PhysicalDevice, Device, Queue unsafe.Pointer // VkInstance, VkPhysicalDevice, VkDevice, VkQueue

	QueueFamily  uint32 // of Queue; it can compute
	Storage16Bit bool   // the device was created with storageBuffer16BitAccess, which PrecisionLow needs to store fp16

	// Lock is held while the library uses the queue; nil: nothing else uses the queue meanwhile.
	Lock sync.Locker
}

// A Runtime has threads, memory and a device for any sessions of any interpreters: SessionConfig.Runtime. Sessions keep
// the parts that they need, so it may be closed before or after them.
//
// A runtime of n threads has n - 1 workers, however many sessions there are; the thread that runs a session is the
// n-th. A run that finds the workers busy with another session computes on its own thread alone, without waiting; its
// results have the same bits.
type Runtime struct {
	calls  gate
	handle C.mnn_go_runtime // 0 once it is closed
	log    *logSink
	host   *hostThreads // nil without ParallelFor

	hasBackends atomic.Bool // AddBackend was called
}

// hostThreads is a ParallelFor, with its panics that wait to be raised in a caller.
type hostThreads struct {
	parallelFor func(count int, task func(index int))
	mutex       sync.Mutex
	panics      []any
}

// NewRuntime makes a runtime. config may be nil.
func NewRuntime(config *RuntimeConfig) (*Runtime, error) {
	const op = "NewRuntime"
	if config == nil {
		config = &RuntimeConfig{}
	}
	if config.Threads < math.MinInt32 || config.Threads > math.MaxInt32 {
		return nil, failf(op, StatusBadRange, "Threads is %d, which does not fit 32 bits", config.Threads)
	}
	var arena cArena
	defer arena.free()
	device, err := arena.text(op, "device", config.Device)
	if err != nil {
		return nil, err
	}
	costs, err := arena.text(op, "costs of the CPU", config.CPUCosts)
	if err != nil {
		return nil, err
	}
	r := &Runtime{}
	var log, host, allocator cgo.Handle
	if config.Log != nil {
		r.log = &logSink{handler: config.Log}
		log = cgo.NewHandle(r.log)
	}
	if config.ParallelFor != nil {
		r.host = &hostThreads{parallelFor: config.ParallelFor}
		host = cgo.NewHandle(r.host)
	}
	if config.Allocator != nil {
		allocator = cgo.NewHandle(config.Allocator)
	}
	var objects C.mnn_go_vulkan
	var lock cgo.Handle
	if v := config.Vulkan; v != nil {
		if v.Lock != nil {
			lock = cgo.NewHandle(v.Lock)
		}
		objects = C.mnn_go_vulkan{given: true, instance: v.Instance, physical_device: v.PhysicalDevice,
			device: v.Device, queue: v.Queue, queue_family: C.uint32_t(v.QueueFamily),
			storage_16bit: C.bool(v.Storage16Bit), lock: C.uintptr_t(lock)}
	}
	var cores *C.int32_t
	if len(config.Cores) > 0 {
		cores = (*C.int32_t)(unsafe.Pointer(&config.Cores[0]))
	}
	result := C.mnn_go_runtime_create(C.int32_t(config.Threads), C.int32_t(config.Power), cores,
		C.size_t(len(config.Cores)), C.uintptr_t(host), C.uintptr_t(allocator), device, costs, objects,
		C.int32_t(config.LogLevel), C.uintptr_t(log))
	err = check(op, result)
	if err != nil {
		for _, unused := range []cgo.Handle{log, host, allocator, lock} {
			if unused != 0 {
				unused.Delete()
			}
		}
		r.finish()
		return nil, err
	}
	r.handle = result.handle
	r.calls.set(true)
	runtime.SetFinalizer(r, func(r *Runtime) { _ = r.Close() })
	r.finish()
	return r, nil
}

// Close releases the runtime; sessions of it stay usable, and its workers end with the last of them.
func (r *Runtime) Close() error {
	if r == nil {
		return nil
	}
	defer r.finish()
	return r.calls.close(func() error {
		if err := check("Runtime.Close", C.go_mnn_runtime_destroy(r.handle)); err != nil {
			return err
		}
		r.handle = 0
		runtime.SetFinalizer(r, nil)
		return nil
	})
}

// enter begins a call that takes the runtime; leave ends it.
func (r *Runtime) enter(op string) error {
	if r == nil || !r.calls.enter() {
		return closedError(op, "runtime")
	}
	return nil
}

func (r *Runtime) leave() { r.calls.leave() }

// finish must be called after a call during which callbacks may have run: it delivers messages and continues a panic.
func (r *Runtime) finish() {
	if r == nil {
		return
	}
	if r.host != nil {
		defer r.host.resume()
	}
	r.log.deliver()
}

// finishAll calls finish of each runtime, also where one of them panics.
func finishAll(runtimes []*Runtime) {
	for _, runtime := range runtimes {
		defer runtime.finish()
	}
}

func (h *hostThreads) keep(value any) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.panics = append(h.panics, value)
}

func (h *hostThreads) resume() {
	h.mutex.Lock()
	var panics []any
	panics, h.panics = h.panics, nil
	h.mutex.Unlock()
	if len(panics) > 0 {
		panic(panics[0])
	}
}

//export mnnGoParallelFor
func mnnGoParallelFor(host C.uintptr_t, task C.mnn_go_task, context C.uintptr_t, count C.int32_t) {
	h := cgo.Handle(host).Value().(*hostThreads)
	returned := false
	defer func() {
		if returned {
			return
		}
		// A panic must not pass through C; the library computes the numbers that were skipped. After a Goexit there is
		// nothing to raise.
		if value := recover(); value != nil {
			h.keep(value)
		}
	}()
	h.parallelFor(int(count), func(index int) {
		if index < 0 || index > math.MaxInt32 {
			index = math.MaxInt32 // an index that does not exist
		}
		C.mnn_go_run_task(task, context, C.int32_t(index))
	})
	returned = true
}

//export mnnGoAllocate
func mnnGoAllocate(allocator C.uintptr_t, size, alignment C.size_t) unsafe.Pointer {
	return cgo.Handle(allocator).Value().(Allocator).Allocate(uintptr(size), uintptr(alignment))
}

//export mnnGoRelease
func mnnGoRelease(allocator C.uintptr_t, memory unsafe.Pointer, size, alignment C.size_t) {
	cgo.Handle(allocator).Value().(Allocator).Release(memory, uintptr(size), uintptr(alignment))
}

//export mnnGoLockQueue
func mnnGoLockQueue(lock C.uintptr_t, locked C.bool) {
	locker := cgo.Handle(lock).Value().(sync.Locker)
	if locked {
		locker.Lock()
	} else {
		locker.Unlock()
	}
}

//export mnnGoEnd
func mnnGoEnd(handle C.uintptr_t) {
	cgo.Handle(handle).Delete()
}
