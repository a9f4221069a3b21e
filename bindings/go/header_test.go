package mnn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
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

// leftOut lists the parts of the header that this package does not have, with the reasons.
var leftOut = map[string]string{
	"MNN_C_0":            "the version of the symbols, not a function",
	"mnn_last_error":     "mnn_last_error_copy takes its place: a goroutine may change its thread between two calls",
	"mnn_tensor_map":     "slices are copied: memory of C would end under a slice of Go",
	"mnn_tensor_unmap":   "as mnn_tensor_map",
	"mnn_session_run":    "mnn_session_run_with_options takes its place",
	"mnn_session_resize": "mnn_session_resize_with_options takes its place",
	"mnn_cancel_reset":   "each token is used for one call only",
	"MNN_MAP_READ":       "mnn_tensor_map is left out",
	"MNN_MAP_WRITE":      "mnn_tensor_map is left out",
}

// compiler runs the C compiler with the flags for the library's header.
func compiler(t *testing.T, arguments ...string) string {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("needs a C compiler: %v", err)
	}
	flags, err := exec.Command("pkg-config", "--cflags", "mnn_c").Output()
	if err != nil {
		t.Skipf("needs pkg-config with mnn_c: %v", err)
	}
	output, err := exec.Command(cc, append(strings.Fields(string(flags)), arguments...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", cc, arguments, err, output)
	}
	return string(output)
}

// Every enumerator of the header has a constant here, with the value that a C program prints.
func TestConstantsAreThoseOfTheHeader(t *testing.T) {
	folder := t.TempDir()
	source, program := filepath.Join(folder, "constants.c"), filepath.Join(folder, "constants")
	must(t, os.WriteFile(source, []byte("#include <mnn_c.h>\n"), 0o600))
	header := compiler(t, "-E", "-P", source)
	names := map[string]bool{}
	for _, enum := range regexp.MustCompile(`enum\s*\{[^}]*\}`).FindAllString(header, -1) {
		for _, name := range regexp.MustCompile(`\bMNN_\w+`).FindAllString(enum, -1) {
			names[name] = true
		}
	}
	if len(names) < 70 {
		t.Fatalf("only %d enumerators in the header", len(names))
	}

	text := "#include <mnn_c.h>\n#include <stdio.h>\nint main(void) {\n"
	for name := range names {
		text += fmt.Sprintf("    printf(\"%s %%lld\\n\", (long long)%s);\n", name, name)
	}
	must(t, os.WriteFile(source, []byte(text+"    return 0;\n}\n"), 0o600))
	compiler(t, source, "-o", program)
	output, err := exec.Command(program).Output()
	must(t, err)
	here := byName()
	found := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(output)), "\n") {
		var name string
		var value int64
		if _, err := fmt.Sscan(line, &name, &value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		found[name] = true
		if leftOut[name] != "" {
			continue
		}
		if got, ok := here[name]; !ok {
			t.Errorf("%s has no constant here", name)
		} else if got != value {
			t.Errorf("%s is %d in the header, %d here", name, value, got)
		}
	}
	for name := range here {
		if !found[name] {
			t.Errorf("%s is not in the header", name)
		}
	}
}

// The library knows all statuses by the names of the header.
func TestStatusNames(t *testing.T) {
	for name, value := range byName() {
		if name == "MNN_OK" || strings.HasPrefix(name, "MNN_ERROR_") {
			if got := Status(value).Error(); got != name {
				t.Errorf("status %d is %q, wanted %q", value, got, name)
			}
		}
	}
}

// Every function that the library exports is called by this package.
func TestTheWholeInterfaceIsUsed(t *testing.T) {
	list, err := os.ReadFile(inRepository(t, "tests", "c_abi", "exports.txt"))
	must(t, err)
	files, err := filepath.Glob("*")
	must(t, err)
	goText, cText := "", ""
	for _, file := range files {
		text := ""
		extension := filepath.Ext(file)
		if file != "shims_generated.h" && (extension == ".go" || extension == ".c" || extension == ".h") {
			bytes, err := os.ReadFile(file)
			must(t, err)
			text = string(bytes)
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			goText += text
		} else if !strings.HasSuffix(file, ".go") {
			cText += text
		}
	}
	var missing []string
	for _, name := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		if strings.HasPrefix(name, "#") {
			continue
		}
		direct := strings.Contains(goText, "C."+name+"(")
		shim := strings.Contains(goText, "C.go_"+name+"(")
		inside := regexp.MustCompile(`\b` + name + `\(`).MatchString(cText)
		if used := direct || shim || inside; used == (leftOut[name] != "") {
			missing = append(missing, name)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("neither used nor left out on purpose, or both: %v", missing)
	}
}
