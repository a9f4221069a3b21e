package mnn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestErrorsAreFoundByStatusAndCause(t *testing.T) {
	cause := &Error{Op: "Session.Run", Status: StatusCancelled, Message: "stopped", cause: context.Canceled}
	wrapped := fmt.Errorf("classifying: %w", cause)
	for _, target := range []error{StatusCancelled, context.Canceled, cause} {
		if !errors.Is(wrapped, target) {
			t.Errorf("%v is not found", target)
		}
	}
	for _, target := range []error{StatusOK, StatusBusy, context.DeadlineExceeded, ErrClosed} {
		if errors.Is(wrapped, target) {
			t.Errorf("%v is found", target)
		}
	}
	if got := cause.Error(); got != "mnn: Session.Run: stopped (MNN_ERROR_CANCELLED)" {
		t.Error(got)
	}
}

func TestErrorsAreErrorsOfOS(t *testing.T) {
	_, absent := NewInterpreterFromFile(context.Background(), "absent.mnn", nil)
	_, folder := NewInterpreterFromFile(context.Background(), "examples", nil)
	late := &Error{Op: "Pending.Wait", Status: StatusTimeout, Message: "too late"}
	other := &Error{Op: "Session.Run", Status: StatusBadState, Message: "no shape"}
	targets := []error{os.ErrNotExist, os.ErrPermission, os.ErrDeadlineExceeded, os.ErrInvalid}
	for i, err := range []error{absent, folder, late, other} {
		for j, target := range targets {
			wrapped := fmt.Errorf("classifying: %w", err)
			if found := errors.Is(wrapped, target); found != (i == j && i < 3) {
				t.Errorf("errors.Is(%v, %v) is %t", err, target, found)
			}
		}
	}
	if !errors.Is(folder, StatusFileOpenFailed) {
		t.Error(folder)
	}
}

func TestUnknownStatusIsKept(t *testing.T) {
	for _, number := range []int32{12345, -7, 1<<31 - 1, -1 << 31} {
		err := error(&Error{Op: "x", Status: Status(number), Message: "y"})
		if !errors.Is(err, Status(number)) || errors.Is(err, Status(number+1)) {
			t.Errorf("%d is not kept", number)
		}
		if !strings.Contains(err.Error(), fmt.Sprint(number)) {
			t.Errorf("%v does not contain %d", err, number)
		}
	}
}

func TestLibrary(t *testing.T) {
	var major, minor, patch int
	if n, err := fmt.Sscanf(Version(), "%d.%d.%d", &major, &minor, &patch); n != 3 {
		t.Errorf("version %q: %v", Version(), err)
	}
	if want := uint32(major)<<16 | uint32(minor); ABIVersion() != want {
		t.Errorf("ABI version %#x, wanted %#x", ABIVersion(), want)
	}
	backends, err := Backends()
	must(t, err)
	if len(backends) == 0 || backends[0].Name == "" {
		t.Fatalf("%+v", backends)
	}
	cpu := false
	for _, backend := range backends {
		cpu = cpu || backend == Backend{"cpu", ForwardCPU}
	}
	if !cpu {
		t.Errorf("no CPU in %+v", backends)
	}
	devices, err := Devices(ForwardCPU)
	must(t, err)
	if len(devices) != 0 {
		t.Errorf("the CPU has %+v", devices)
	}
	_, err = Devices(ForwardAuto)
	mustBe(t, err, StatusInvalidValue)
	_, err = Devices(77)
	mustBe(t, err, StatusInvalidValue)
}

func TestEnumeratorsPrintTheirNames(t *testing.T) {
	for want, value := range map[string]fmt.Stringer{
		"float32": TypeFloat32, "element type 99": ElementType(99), "NHWC": NHWC, "format 9": Format(9),
		"CPU": ForwardCPU, "auto": ForwardAuto, "Vulkan": ForwardVulkan, "backend 256": ForwardUser,
		"default": LogDefault, "error": LogError, "warning": LogWarning, "info": LogInfo, "debug": LogDebug,
		"log level 7": LogLevel(7),
	} {
		if got := fmt.Sprint(value); got != want {
			t.Errorf("%q in place of %q", got, want)
		}
	}
}
