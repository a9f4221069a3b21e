package mnn

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// onVulkan returns a configuration for the first device, or skips the test where there is none.
func onVulkan(t *testing.T) *SessionConfig {
	devices, err := Devices(ForwardVulkan)
	if errors.Is(err, StatusBackendMissing) || (err == nil && len(devices) == 0) {
		t.Skipf("needs a Vulkan device: %v", err)
	}
	must(t, err)
	return &SessionConfig{ForwardType: ForwardVulkan, Device: "0"}
}

func mustBeNear(t *testing.T, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d values, wanted %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i]-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
			t.Errorf("value %d is %g, wanted %g", i, got[i], want[i])
		}
	}
}

func TestVulkanDevices(t *testing.T) {
	onVulkan(t)
	devices, err := Devices(ForwardVulkan)
	must(t, err)
	for _, device := range devices {
		kinds := map[string]bool{"discrete": true, "integrated": true, "virtual": true, "cpu": true, "other": true}
		if device.Name == "" || !kinds[device.Kind] || device.UUID == [16]byte{} || device.APIVersion < 1<<22|1<<12 ||
			device.MemoryBytes == 0 {
			t.Errorf("%+v", device)
		}
	}
}

func TestVulkanRuns(t *testing.T) {
	config := onVulkan(t)
	image := pixels(pixelCount, 9)
	want := mustScore(t, digitsSession(t), image)
	session := newTestSession(t, openDigits(t), config)
	mustBeNear(t, mustScore(t, session, image), want)
	setup, err := session.Properties()
	must(t, err)
	if setup.ForwardType != ForwardVulkan || setup.Reason != "" {
		t.Errorf("runs on %+v", setup)
	}
	ops, err := session.Ops()
	must(t, err)
	on := 0
	for _, op := range ops {
		if op.Backend == "vulkan" {
			on++
		}
	}
	if on == 0 {
		t.Errorf("nothing runs on Vulkan: %+v", ops)
	}
	calls := 0
	must(t, session.RunWithCallbacks(context.Background(), nil, func(_ OpInfo, tensors []*Tensor) OpAction {
		calls++
		for _, tensor := range tensors {
			if _, err := Read[float32](tensor, NCHW); err != nil {
				mustBe(t, err, StatusBadState)
			}
		}
		return OpRun
	}))
	if calls < on {
		t.Errorf("%d calls for %d operators", calls, on)
	}
	mustBe(t, session.RunWithCallbacks(context.Background(), func(op OpInfo, _ []*Tensor) OpAction {
		if op.Backend == "vulkan" {
			return OpSkip
		}
		return OpRun
	}, nil), StatusNotSupported)
	config.GPUMode = GPURecordOp
	single := newTestSession(t, openDigits(t), config)
	read := 0
	must(t, single.RunWithCallbacks(context.Background(), func(OpInfo, []*Tensor) OpAction {
		return OpSkip
	}, func(_ OpInfo, tensors []*Tensor) OpAction {
		for _, tensor := range tensors {
			_, err := Read[float32](tensor, NCHW)
			must(t, err)
			read++
		}
		return OpRun
	}))
	if read < on {
		t.Errorf("%d tensors of %d operators", read, on)
	}
	config.GPUMode = 0
	config.Device = "no device has this name"
	_, err = openDigits(t).NewSession(context.Background(), config)
	mustBe(t, err)
}

func TestVulkanCache(t *testing.T) {
	config := onVulkan(t)
	image := pixels(pixelCount, 9)
	net := openDigits(t)
	session := newTestSession(t, net, config)
	want := mustScore(t, session, image)
	cache, err := session.Cache()
	must(t, err)
	if len(cache) == 0 {
		t.Fatal("no cache")
	}
	must(t, net.SetCache(cache))
	second := newTestSession(t, net, config)
	accepted, err := second.CacheAccepted()
	must(t, err)
	if !accepted {
		t.Error("the cache of the same process is not accepted")
	}
	mustEqual(t, mustScore(t, second, image), want)
	must(t, net.SetCache(nil))

	path := filepath.Join(t.TempDir(), "cache")
	must(t, net.SetCacheFile(path))
	newTestSession(t, net, config)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Fatalf("no cache file: %v", err)
	}
	third := newTestSession(t, net, config)
	accepted, err = third.CacheAccepted()
	must(t, err)
	if !accepted {
		t.Error("the cache file is not accepted")
	}
	must(t, net.UpdateCacheFile(third))
}

func TestMemoryThatTwoSessionsShare(t *testing.T) {
	config := onVulkan(t)
	net := openDigits(t)
	first, second := *config, *config
	first.Outputs, second.Inputs = []string{"m"}, []string{"m"}
	head, tail := newTestSession(t, net, &first), newTestSession(t, net, &second)
	out, err := head.Output("m")
	must(t, err)
	in, err := tail.Input("m")
	must(t, err)
	err = BindOutputBuffer(out, &DeviceBuffer{Kind: BufferOpaqueFD, Allocate: true})
	if errors.Is(err, StatusNotSupported) {
		t.Skip(err)
	}
	must(t, err)
	shared, err := out.DeviceBuffer(BufferOpaqueFD)
	must(t, err)
	small := shared
	small.Bytes--
	mustBe(t, BindInputBuffer(in, &small), StatusBufferTooSmall)
	must(t, BindInputBuffer(in, &shared))
	must(t, os.NewFile(uintptr(shared.FD), "shared").Close())
	for seed := uint32(0); seed < 3; seed++ {
		image := pixels(pixelCount, seed)
		input, err := head.Input("image")
		must(t, err)
		must(t, Write(input, image, NCHW))
		must(t, head.Run(context.Background()))
		must(t, tail.Run(context.Background()))
		output, err := tail.Output("scores")
		must(t, err)
		got, err := Read[float32](output, NCHW)
		must(t, err)
		mustBeNear(t, got, mustScore(t, digitsSession(t), image))
	}
	mustBe(t, BindInputBuffer(in, &DeviceBuffer{Kind: BufferVulkan, Buffer: 1, Bytes: 1 << 20}), StatusNotSupported)
	must(t, BindOutputBuffer(out, nil))
	_, err = out.DeviceBuffer(BufferVulkan)
	mustBe(t, err, StatusNotSupported)
}
