//go:build mnn_c_static

// Links the static library. This is a separate file because Go's build cache sees which files a tag chooses, but not
// the effect of a tag inside of one.

package mnnimage

// #cgo pkg-config: mnn_c_image_static
import "C"
