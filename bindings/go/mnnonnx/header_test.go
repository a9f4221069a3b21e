package mnnonnx

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A constantInC is a constant of this package with its name in C.
type constantInC struct {
	name  string
	value int64
}

func byName() map[string]int64 {
	found := map[string]int64{}
	for _, one := range constants {
		found[one.name] = one.value
	}
	return found
}

// header returns the text of the installed header without comments.
func header(t *testing.T) string {
	t.Helper()
	folder, err := exec.Command("pkg-config", "--variable=includedir", "mnn_c_onnx").Output()
	if err != nil {
		t.Skipf("needs pkg-config with mnn_c_onnx: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "mnn_c_onnx.h"))
	must(t, err)
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// Every number of the header has a constant here, with its value.
func TestConstantsAreThoseOfTheHeader(t *testing.T) {
	here, found := byName(), map[string]bool{}
	for _, match := range regexp.MustCompile(`\b(MNN_ONNX_\w+) = (\d+)`).FindAllStringSubmatch(header(t), -1) {
		name := match[1]
		found[name] = true
		if got, ok := here[name]; !ok {
			t.Errorf("%s has no constant here", name)
		} else if fmt.Sprint(got) != match[2] {
			t.Errorf("%s is %s in the header, %d here", name, match[2], got)
		}
	}
	for name := range here {
		if !found[name] {
			t.Errorf("%s is not in the header", name)
		}
	}
}

// Every function of the header is called by this package, and every shim.
func TestTheWholeInterfaceIsUsed(t *testing.T) {
	names := regexp.MustCompile(`MNN_C_API [^;]*?\b(mnn_onnx_\w+)\(`).FindAllStringSubmatch(header(t), -1)
	if len(names) < 11 {
		t.Fatalf("only %d functions in the header", len(names))
	}
	var shims []byte
	for _, name := range []string{"shims_call.h", "shims_generated.h", "shims.h"} {
		text, err := os.ReadFile(name)
		must(t, err)
		shims = append(shims, text...)
	}
	files, err := filepath.Glob("*.go")
	must(t, err)
	goText := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			goText += string(text)
		}
	}
	for _, match := range names {
		if !regexp.MustCompile(`\b` + match[1] + `\(`).Match(shims) {
			t.Errorf("%s is not called", match[1])
		}
	}
	for _, shim := range regexp.MustCompile(`\bgo_mnn_\w+`).FindAllString(string(shims), -1) {
		if !strings.Contains(goText, "C."+shim+"(") {
			t.Errorf("%s is not called", shim)
		}
	}
}
