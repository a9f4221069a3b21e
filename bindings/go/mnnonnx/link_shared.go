//go:build !mnn_c_static

// Links the shared library. In a file of its own: Go's build cache sees which files a tag chooses, and not what a tag
// chooses inside of one.

package mnnonnx

// #cgo pkg-config: mnn_c_onnx
import "C"
