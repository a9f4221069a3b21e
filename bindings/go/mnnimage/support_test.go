package mnnimage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"libmnn-c.example/mnn"
)

// colour is a file with two pixels.
var colour = []byte("P6 2 1 255\n\x0a\x14\x1e\xff\x80\x00")

// inRepository returns the path of a file that the tests need and that lies outside of this module.
func inRepository(t *testing.T, path ...string) string {
	t.Helper()
	full := filepath.Join(append([]string{"..", "..", ".."}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("needs the library's repository: %v", err)
	}
	return full
}

// must fails the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustBe fails the test unless err is an *mnn.Error with that status and a sentence.
func mustBe(t *testing.T, err error, status mnn.Status) {
	t.Helper()
	var e *mnn.Error
	if !errors.As(err, &e) || !errors.Is(err, status) {
		t.Fatalf("got %v, wanted %v", err, status)
	}
	if e.Op == "" || e.Message == "" {
		t.Errorf("%#v has no sentence", e)
	}
}

// picture makes a picture whose bytes differ.
func picture(t *testing.T, format PixelFormat, width, height int) *Image {
	t.Helper()
	image, err := New(format, width, height)
	must(t, err)
	for i := range image.Pixels {
		image.Pixels[i] = byte(i * 37 % 251)
	}
	return image
}
