// Package mnnonnx makes .mnn models from ONNX models. It is the Go side of libmnn_c_onnx.
//
//	net, err := mnnonnx.NewInterpreter(ctx, "net.onnx", nil) // in memory, with the defaults
//	...
//	made, err := mnnonnx.Convert(ctx, "net.onnx", &mnnonnx.Options{
//		Output:  "net.mnn",
//		Extents: map[string]int{"batch": 1},
//		Weights: mnnonnx.Int8,
//	})
//
// Where nodes cannot be expressed, the error is a *[ProblemsError], whose report lists all of them. Other errors are
// *[mnn.Error]. docs/convert.md of the library lists the operators. All functions may be called from any goroutine at
// any time.
//
// # Linking
//
// Programs that import this package need libmnn_c_onnx in addition to libmnn_c. pkg-config finds it as mnn_c_onnx, or,
// with the build tag mnn_c_static, the static one (mnn_c_onnx_static), which is not needed when the program runs.
package mnnonnx
