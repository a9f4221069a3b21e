package mnn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersionNumbers(t *testing.T) {
	major, minor, patch, err := VersionNumbers()
	must(t, err)
	if text := fmt.Sprintf("%d.%d.%d", major, minor, patch); text != Version() {
		t.Errorf("%s, but the library is %s", text, Version())
	}
	if major != VersionMajor || minor != VersionMinor || patch != VersionPatch {
		t.Errorf("%d.%d.%d is not the version of this package", major, minor, patch)
	}
}

func TestProcessorNamesItsInstructionSets(t *testing.T) {
	cpu, err := Processor()
	must(t, err)
	if cpu.LogicalCores < 1 || len(cpu.ISAs) == 0 {
		t.Fatalf("%+v", cpu)
	}
	net := openDigits(t)
	for _, isa := range cpu.ISAs {
		info, err := newTestSession(t, net, &SessionConfig{CPUISA: isa}).Properties()
		must(t, err)
		if info.CPUISA != isa {
			t.Errorf("the session runs on %q, wanted %q", info.CPUISA, isa)
		}
	}
}

// A failure frees its sentence once, and the calls of a measurement end with their context.
func TestCalibrationsThatFail(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Calibrate(context.Background(), "no such set")
	mustBe(t, err, StatusNotFound)
	_, err = Calibrate(ctx, "no such set")
	mustBe(t, err, StatusNotFound)
	if !strings.Contains(err.Error(), "no such set") {
		t.Errorf("the sentence is %q", err)
	}
	cancel()
	_, err = Calibrate(ctx, "")
	mustBe(t, err, StatusCancelled, context.Canceled)
}

func TestSessionProperties(t *testing.T) {
	config := &SessionConfig{Threads: 2, Memory: MemoryHigh, Precision: PrecisionLow, CPUISA: lowestISA(t)}
	info, err := newTestSession(t, openDigits(t), config).Properties()
	must(t, err)
	if info.PrecisionReason == "" || info.MemoryReason == "" {
		t.Errorf("no reasons in %+v", info)
	}
	info.PrecisionReason, info.MemoryReason = "", ""
	wanted := SessionProperties{CPUISA: lowestISA(t), Threads: 2, WantedThreads: 2, WantedPrecision: PrecisionLow,
		WantedMemory: MemoryHigh}
	if info != wanted {
		t.Errorf("%+v, wanted %+v", info, wanted)
	}
}

func TestStatistics(t *testing.T) {
	session := digitsSession(t)
	must(t, session.Run(context.Background()))
	must(t, session.ResizeInput(firstInput(t, session), []int{2, 1, 8, 8}))
	must(t, session.Resize(context.Background()))
	now, err := session.Statistics()
	must(t, err)
	if now.Runs != 1 || now.FailedRuns != 0 || now.Plans != 2 || now.FailedPlans != 0 || now.LastRun <= 0 ||
		now.TotalRun != now.LastRun || now.TotalPlan <= now.LastPlan || now.PeakMemoryBytes < now.MemoryBytes ||
		now.MemoryBytes < now.ArenaBytes+now.WeightBytes || now.ArenaBytes == 0 || now.WeightBytes == 0 {
		t.Errorf("%+v", now)
	}
}

func TestModelAndTensorProperties(t *testing.T) {
	net := openDigits(t)
	model, err := net.Properties()
	must(t, err)
	file, err := os.Stat(digitsPath(t))
	must(t, err)
	if model.Usage != UsageInference || model.ByteSize != uint64(file.Size()) || model.Weightless {
		t.Errorf("%+v", model)
	}
	_, err = net.Metadata()
	must(t, err)
	session := newTestSession(t, net, nil)
	input := firstInput(t, session)
	info, err := input.Properties()
	must(t, err)
	wanted := TensorProperties{Kind: TensorInput, ForwardType: ForwardCPU, Type: TypeFloat32, ChannelBlock: 1, Used: true}
	if info != wanted {
		t.Errorf("%+v, wanted %+v", info, wanted)
	}
	extents, err := input.NCHW()
	must(t, err)
	if extents != [4]int{1, 1, 8, 8} {
		t.Error(extents)
	}
	_, err = firstOutput(t, session).NCHW()
	mustBe(t, err, StatusBadState)
	text, err := input.Print(1)
	must(t, err)
	if text != "image float32 [1, 1, 8, 8] NCHW\n[[[[0 ... 0]\n   ...\n   [0 ... 0]]]]\n" {
		t.Errorf("%q", text)
	}
	_, err = input.Print(-1)
	mustBe(t, err, StatusBadRange)
}

func TestConstantsAreWrittenAndSaved(t *testing.T) {
	net := openModel(t, inRepository(t, "tests", "conformance", "cases", "source__types", "model.mnn"))
	session := newTestSession(t, net, nil)
	names, err := session.Constants()
	must(t, err)
	if len(names) != 7 {
		t.Fatal(names)
	}
	constant, err := session.Constant(names[5])
	must(t, err)
	written := []float32{3, -1, 4, 1, -5, 9}
	must(t, Write(constant, written, NCHW))
	mustBe(t, net.UpdateConstants(session), StatusBadState)
	must(t, session.Resize(context.Background()))
	must(t, net.UpdateConstants(session))
	path := filepath.Join(t.TempDir(), "saved.mnn")
	must(t, net.Save(path))
	file, err := os.ReadFile(path)
	must(t, err)
	bytes, err := net.ModelBytes()
	must(t, err)
	if string(file) != string(bytes) {
		t.Error("the file is not what ModelBytes gives")
	}
	saved := openModel(t, path)
	reader := newTestSession(t, saved, nil)
	unplanned := newTestSession(t, saved, &SessionConfig{DeferPlanning: true})
	must(t, saved.ReleaseModelKeeping(KeepWeights))
	must(t, unplanned.Resize(context.Background()))
	mustBe(t, saved.ReleaseModelKeeping(7), StatusInvalidValue)
	must(t, saved.ReleaseModel())
	_, err = saved.ModelBytes()
	mustBe(t, err, StatusBadState)
	for _, session := range []*Session{session, reader} {
		must(t, session.Run(context.Background()))
		output, err := session.Output("sum_float")
		must(t, err)
		sum, err := Read[float32](output, NCHW)
		must(t, err)
		if fmt.Sprint(sum) != fmt.Sprint(written) {
			t.Errorf("%v, wanted %v", sum, written)
		}
	}
	for _, name := range []string{"nothing", ""} {
		_, err = session.Constant(name)
		mustBe(t, err, StatusNotFound)
	}
}
