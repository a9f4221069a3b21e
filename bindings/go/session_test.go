package mnn

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	session := digitsSession(t)
	got := mustScore(t, session, pixels(pixelCount, 1))
	if len(got) != classCount {
		t.Fatalf("%d scores", len(got))
	}
	other := mustScore(t, session, pixels(pixelCount, 2))
	if reflect.DeepEqual(got, other) {
		t.Error("two images have the same scores")
	}
	mustEqual(t, mustScore(t, session, pixels(pixelCount, 1)), got)
}

func TestResize(t *testing.T) {
	const batch = 5
	ctx := context.Background()
	session := digitsSession(t)
	images := pixels(batch*pixelCount, 3)
	var single []float32
	for i := 0; i < batch; i++ {
		single = append(single, mustScore(t, session, images[i*pixelCount:(i+1)*pixelCount])...)
	}
	input, output := firstInput(t, session), firstOutput(t, session)
	must(t, session.ResizeInput(input, []int{1, 1, 8, 8}))
	needed, err := session.NeedsResize()
	must(t, err)
	if needed {
		t.Error("the shape it has needs a resize")
	}
	must(t, session.ResizeInput(input, []int{batch, 1, 8, 8}))
	needed, err = session.NeedsResize()
	must(t, err)
	if !needed {
		t.Error("another shape needs no resize")
	}
	mustBe(t, session.Run(ctx), StatusBadState)
	mustBe(t, Write(input, images, NCHW), StatusBadState)
	_, err = Read[float32](output, NCHW)
	mustBe(t, err, StatusBadState)
	_, err = output.Shape()
	mustBe(t, err, StatusBadState)
	_, err = session.Ops()
	mustBe(t, err, StatusBadState)
	_, _, err = session.FLOPs()
	mustBe(t, err, StatusBadState)
	must(t, session.Resize(ctx))
	shape, err := output.Shape()
	must(t, err)
	if want := []int{batch, classCount}; !reflect.DeepEqual(shape, want) {
		t.Errorf("output %v, wanted %v", shape, want)
	}
	// Convolutions of a batch may use another algorithm.
	mustBeClose(t, mustScore(t, session, images), single)
}

func TestPlansAreDeferredKeptAndGivenUp(t *testing.T) {
	ctx := context.Background()
	model := openDigits(t)
	session, err := model.NewSession(ctx, &SessionConfig{DeferPlanning: true, PlanCache: 3})
	must(t, err)
	defer session.Close()
	mustBe(t, session.Run(ctx), StatusBadState)
	must(t, session.Resize(ctx))
	must(t, session.Run(ctx))
	input := firstInput(t, session)
	// A run repeats the reason why a resize failed; with the former shapes it succeeds.
	must(t, session.ResizeInput(input, []int{1, 2, 8, 8}))
	failure := session.Resize(ctx)
	repeated := session.Run(ctx)
	if failure == nil || repeated == nil {
		t.Fatalf("no failure: %v, %v", failure, repeated)
	}
	must(t, session.ResizeInput(input, []int{1, 1, 8, 8}))
	must(t, session.Run(ctx))
	for _, batch := range []int{50, 1} {
		must(t, session.ResizeInput(input, []int{batch, 1, 8, 8}))
		must(t, session.Resize(ctx))
	}
	large, err := session.Statistics()
	must(t, err)
	must(t, session.Trim())
	small, err := session.Statistics()
	must(t, err)
	if small.MemoryBytes >= large.MemoryBytes {
		t.Errorf("%d bytes after a trim, %d before", small.MemoryBytes, large.MemoryBytes)
	}
	must(t, session.Run(ctx))
	_, err = model.NewSession(ctx, &SessionConfig{PlanCache: 65})
	mustBe(t, err, StatusInvalidValue)
}

func TestShapesThatAreRefused(t *testing.T) {
	session := digitsSession(t)
	input := firstInput(t, session)
	mustBe(t, session.ResizeInput(input, []int{-1, 1, 8, 8}), StatusBadRange)
	mustBe(t, session.ResizeInput(input, make([]int, MaxRank+1)), StatusBadRange)
	mustBe(t, session.ResizeInput(input, []int{1 << 30, 1 << 30, 1 << 30}), StatusOverflow)
	if math.MaxInt > math.MaxInt32 {
		one := 1
		mustBe(t, session.ResizeInput(input, []int{one << 32, 1, 8, 8}), StatusBadRange)
	}
	mustBe(t, session.ResizeInput(nil, []int{1}), StatusNullArgument)
	mustBe(t, session.ResizeInput(&Tensor{}, []int{1}), StatusBadHandle)
	mustBe(t, session.ResizeInput(firstOutput(t, session), []int{1}), StatusBadHandle)
	other := digitsSession(t)
	mustBe(t, session.ResizeInput(firstInput(t, other), []int{1, 1, 8, 8}), StatusBadHandle)
	needed, err := session.NeedsResize()
	must(t, err)
	if needed {
		t.Error("a refused shape was taken")
	}
	must(t, session.ResizeInput(input, nil)) // a scalar; the net refuses it
	mustBe(t, session.Resize(context.Background()))
	must(t, session.ResizeInput(input, []int{1, 1, 8, 8}))
	must(t, session.Resize(context.Background()))
	mustScore(t, session, pixels(pixelCount, 1))
}

func TestSessionTells(t *testing.T) {
	session := digitsSession(t)
	mustScore(t, session, pixels(pixelCount, 1))
	memory, err := session.Statistics()
	must(t, err)
	if memory.WeightBytes == 0 || memory.MemoryBytes < memory.WeightBytes || memory.PeakMemoryBytes < memory.MemoryBytes {
		t.Errorf("%+v", memory)
	}
	flops, complete, err := session.FLOPs()
	must(t, err)
	ops, err := session.Ops()
	must(t, err)
	ofNet, err := openDigits(t).Ops()
	must(t, err)
	sum := 0.0
	for _, op := range ops {
		sum += op.FLOPs
		if op.Type == "" || op.Backend != "cpu" || op.Reason != "" || ofNet[op.Index].Name != op.Name {
			t.Errorf("%+v", op)
		}
	}
	if len(ops) < 3 || !complete || flops < 1000 || math.Abs(flops-sum) > 1e-6*flops {
		t.Errorf("%d operators, %g operations (%g), %v", len(ops), flops, sum, complete)
	}
}

func TestReport(t *testing.T) {
	net := openDigits(t)
	session := newTestSession(t, net, &SessionConfig{RecordPlan: true})
	passes, err := session.Report("passes")
	must(t, err)
	whole, err := session.Report("plan")
	must(t, err)
	for _, pass := range strings.Fields(passes) {
		part, err := session.Report("plan after:" + pass)
		must(t, err)
		if !strings.HasPrefix(part, "main graph") || !strings.Contains(whole, part) {
			t.Errorf("plan after %s: %q", pass, part)
		}
	}
	graph, err := net.Report("graph")
	must(t, err)
	executed, err := session.Report("graph")
	must(t, err)
	for _, text := range []string{graph, executed} {
		if !json.Valid([]byte(text)) || !strings.Contains(text, `"Convolution"`) {
			t.Errorf("graph: %q", text)
		}
	}
	_, err = net.Report("plan")
	mustBe(t, err, StatusNotFound)
	_, err = session.Report("plan after:nothing")
	mustBe(t, err, StatusNotFound)
	_, err = newTestSession(t, net, nil).Report("plan")
	mustBe(t, err, StatusBadState)
}

func TestConfig(t *testing.T) {
	net := openDigits(t)
	reference := mustScore(t, newTestSession(t, net, nil), pixels(pixelCount, 1))
	full := &SessionConfig{
		ForwardType: ForwardCPU, BackupType: ForwardCPU, AllowFallback: true, Threads: 2,
		Precision: PrecisionHigh, Memory: MemoryHigh, Power: PowerHigh,
		GPUMode: GPUTuningWide | GPUMemoryBuffer | GPURecordBatch, CPUISA: lowestISA(t),
		Outputs: []string{"scores"}, SaveTensors: []string{"image"}, MaxMemoryBytes: 1 << 30,
		MaxLoopIterations: 10, TuningOperators: 3,
	}
	session := newTestSession(t, net, full)
	got := mustScore(t, session, pixels(pixelCount, 1))
	for i := range got {
		if math.Abs(float64(got[i]-reference[i])) > 1e-4 {
			t.Errorf("score %d is %g, wanted %g", i, got[i], reference[i])
		}
	}
	outputs, err := session.Outputs()
	must(t, err)
	var names []string
	for _, output := range outputs {
		name, err := output.Name()
		must(t, err)
		names = append(names, name)
	}
	if want := []string{"scores", "image"}; !reflect.DeepEqual(names, want) {
		t.Errorf("outputs %v, wanted %v", names, want)
	}
	saved, err := Read[float32](outputs[1], NCHW)
	must(t, err)
	mustEqual(t, saved, pixels(pixelCount, 1))
}

func TestConfigsThatAreRefused(t *testing.T) {
	net := openDigits(t)
	for _, c := range []struct {
		config SessionConfig
		want   Status
	}{
		{SessionConfig{ForwardType: 77}, StatusInvalidValue},
		{SessionConfig{BackupType: -1}, StatusInvalidValue},
		{SessionConfig{Threads: -1}, StatusBadRange},
		{SessionConfig{Threads: MaxThreads + 1}, StatusBadRange},
		{SessionConfig{Threads: math.MaxInt}, StatusBadRange},
		{SessionConfig{Precision: 77}, StatusInvalidValue},
		{SessionConfig{Memory: 77}, StatusInvalidValue},
		{SessionConfig{Power: 77}, StatusInvalidValue},
		{SessionConfig{GPUMode: 1 << 20}, StatusInvalidValue},
		{SessionConfig{TuningOperators: -1}, StatusInvalidValue},
		{SessionConfig{TuningOperators: math.MaxInt}, StatusInvalidValue},
		{SessionConfig{GPUMode: GPUTuningFast | GPUTuningNone}, StatusInvalidValue},
		{SessionConfig{CPUISA: "abacus"}, StatusNotFound},
		{SessionConfig{CPUISA: "a\x00b"}, StatusInvalidValue},
		{SessionConfig{Device: "a\x00b"}, StatusInvalidValue},
		{SessionConfig{Device: "0"}, StatusInvalidValue},
		{SessionConfig{Outputs: []string{"absent"}}, StatusNotFound},
		{SessionConfig{Outputs: []string{"scores", ""}}, StatusNotFound},
		{SessionConfig{Outputs: []string{"scores", "a\x00b"}}, StatusInvalidValue},
		{SessionConfig{SaveTensors: []string{"absent"}}, StatusNotFound},
		{SessionConfig{SaveTensors: []string{"a\x00b"}}, StatusInvalidValue},
		{SessionConfig{MaxMemoryBytes: 10}, StatusLimitExceeded},
	} {
		session, err := net.NewSession(context.Background(), &c.config)
		if session != nil {
			t.Errorf("%+v gave a session", c.config)
		}
		mustBe(t, err, c.want)
	}
}

func TestWhereItRuns(t *testing.T) {
	setup, err := digitsSession(t).Properties()
	must(t, err)
	if setup.ForwardType != ForwardCPU || setup.Reason != "" {
		t.Errorf("runs on %+v", setup)
	}
	missing := &SessionConfig{ForwardType: ForwardVulkan, Device: "no GPU has this name", AllowFallback: true}
	setup, err = newTestSession(t, openDigits(t), missing).Properties()
	must(t, err)
	if setup.ForwardType != ForwardCPU || setup.Reason == "" {
		t.Errorf("runs on %+v", setup)
	}
}

func TestTensorsByNameAndIndex(t *testing.T) {
	session := digitsSession(t)
	for _, find := range []func() (*Tensor, error){
		func() (*Tensor, error) { return session.Input("image") },
		func() (*Tensor, error) { return session.Input("") },
		func() (*Tensor, error) { return session.InputAt(0) },
		func() (*Tensor, error) { all, err := session.Inputs(); return all[0], err },
	} {
		tensor, err := find()
		must(t, err)
		name, err := tensor.Name()
		must(t, err)
		if name != "image" {
			t.Errorf("found %q", name)
		}
	}
	_, err := session.Input("absent")
	mustBe(t, err, StatusNotFound)
	if !strings.Contains(err.Error(), "'image'") {
		t.Errorf("%v does not list what there is", err)
	}
	_, err = session.Output("image")
	mustBe(t, err, StatusNotFound)
	_, err = session.Output("a\x00b")
	mustBe(t, err, StatusInvalidValue)
	for _, index := range []int{-1, 1, math.MaxInt, math.MinInt} {
		_, err = session.InputAt(index)
		mustBe(t, err, StatusBadIndex)
		_, err = session.OutputAt(index)
		mustBe(t, err, StatusBadIndex)
	}
}
