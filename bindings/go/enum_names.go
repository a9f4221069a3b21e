// The names of element types, formats, backends and levels in messages.

package mnn

import "fmt"

// size is the number of bytes of an element.
func (t ElementType) size() int {
	switch t {
	case TypeFloat64, TypeInt64:
		return 8
	case TypeFloat32, TypeInt32:
		return 4
	case TypeUint8, TypeInt8, TypeBool:
		return 1
	}
	return 2
}

func (t ElementType) String() string {
	switch t {
	case TypeFloat32:
		return "float32"
	case TypeFloat64:
		return "float64"
	case TypeInt64:
		return "int64"
	case TypeBool:
		return "bool"
	case TypeInt32:
		return "int32"
	case TypeUint8:
		return "uint8"
	case TypeInt16:
		return "int16"
	case TypeInt8:
		return "int8"
	case TypeBFloat16:
		return "bfloat16"
	case TypeUint16:
		return "uint16"
	case TypeFloat16:
		return "float16"
	}
	return fmt.Sprintf("element type %d", int32(t))
}

func (f Format) String() string {
	switch f {
	case NCHW:
		return "NCHW"
	case NHWC:
		return "NHWC"
	case NC4HW4:
		return "NC4HW4"
	}
	return fmt.Sprintf("format %d", int32(f))
}

func (f ForwardType) String() string {
	switch f {
	case ForwardCPU:
		return "CPU"
	case ForwardAuto:
		return "auto"
	case ForwardVulkan:
		return "Vulkan"
	}
	return fmt.Sprintf("backend %d", int32(f))
}

func (l LogLevel) String() string {
	switch l {
	case LogDefault:
		return "default"
	case LogError:
		return "error"
	case LogWarning:
		return "warning"
	case LogInfo:
		return "info"
	case LogDebug:
		return "debug"
	}
	return fmt.Sprintf("log level %d", int32(l))
}
