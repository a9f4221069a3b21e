// Package mnnimage makes inputs of nets of pictures: it decodes, crops and resizes them, and converts them into the
// values of tensors, with the pixels of the official runtime's ImageProcess. It is the Go side of libmnn_c_image.
//
//	photo, err := mnnimage.Decode(file, mnnimage.RGB)
//	...
//	small, err := photo.Resize(224, 224) // every pixel counts
//	...
//	values, err := mnnimage.Convert[float32](small, mnnimage.BGR, 224, 224, &mnnimage.Options{
//		Mean:  [4]float32{104, 117, 123},
//		Scale: [4]float32{1.0 / 58, 1.0 / 58, 1.0 / 58},
//	})
//	...
//	err = mnn.Write(input, values, mnn.NCHW)
//
// An [Image] is a struct of Go with a slice of pixels: programs with their own decoder fill one in. All functions may
// be called from any goroutine at any time, as long as no other goroutine writes the slices that a call uses; memory
// that a call writes must not overlap memory that it reads.
//
// Every error is an *[mnn.Error]: errors.Is(err, mnn.StatusBadFormat).
//
// # Linking
//
// Programs that import this package need libmnn_c_image in addition to libmnn_c. pkg-config finds it as mnn_c_image,
// or, with the build tag mnn_c_static, the static one (mnn_c_image_static), which is not needed when the program runs.
package mnnimage
