// Nodes that operators of the host run, and their attributes.

package mnn

// #include "shims.h"
import "C"

import "unsafe"

// A Node is a node that an [Operator] computes, as the model's file describes it.
type Node struct {
	node  *C.mnn_node_t
	shown *showing
}

func (n *Node) text(field func(*C.mnn_node_t) *C.char) string {
	if n == nil || n.shown.over {
		return ""
	}
	return C.GoString(field(n.node))
}

// Name returns the node's own name, else that of its first output.
func (n *Node) Name() string { return n.text(func(c *C.mnn_node_t) *C.char { return c.name }) }

// Type returns the name under which the operator is registered.
func (n *Node) Type() string { return n.text(func(c *C.mnn_node_t) *C.char { return c.type_name }) }

// SchemaType returns the operator's name in the format: "Plugin", "Extra" or another operator.
func (n *Node) SchemaType() string {
	return n.text(func(c *C.mnn_node_t) *C.char { return c.schema_type })
}

// Engine returns the origin of the operator of an Extra, e.g. "ONNX"; else "".
func (n *Node) Engine() string { return n.text(func(c *C.mnn_node_t) *C.char { return c.engine }) }

// Info returns a copy of the bytes of an Extra.
func (n *Node) Info() []byte {
	if n == nil || n.shown.over {
		return nil
	}
	return copied((*byte)(n.node.info), n.node.info_size)
}

// An Attribute is a named value of a [Node]. The format does not record its kind: values that the attribute
// does not have are zero. Its Tensor is valid as long as the node.
type Attribute struct {
	Key        string
	Int        int32
	Float      float32
	Bool       bool
	Text       string
	Ints       []int32
	Floats     []float32
	Bools      []bool
	Texts      []string
	Tensor     *HostTensor // nil where there is none, and for a tensor of texts
	Function   string      // the name of the list Attributes
	Attributes []Attribute
}

// Attributes returns the attributes of a Plugin or an Extra, in the order of the file.
func (n *Node) Attributes() []Attribute {
	if n == nil || n.shown.over {
		return nil
	}
	return attributes(n.node.attributes, n.node.attribute_count, n.shown)
}

// Attribute returns the first attribute with a key. It returns StatusNotFound where there is none.
func (n *Node) Attribute(key string) (Attribute, error) {
	const op = "Node.Attribute"
	if n == nil || n.shown.over {
		return Attribute{}, closedError(op, "node")
	}
	var arena cArena
	defer arena.free()
	name, err := arena.textOrEmpty(op, "key", key)
	if err != nil {
		return Attribute{}, err
	}
	found := C.go_mnn_node_attribute(n.node, name)
	if err := check(op, found.result); err != nil {
		return Attribute{}, err
	}
	return attribute(found.attribute, n.shown), nil
}

func copied[T any](data *T, count C.size_t) []T {
	return append([]T(nil), unsafe.Slice(data, int(count))...)
}

func attributes(list **C.mnn_attribute_t, count C.size_t, shown *showing) []Attribute {
	var result []Attribute
	for _, entry := range unsafe.Slice(list, int(count)) {
		result = append(result, attribute(entry, shown))
	}
	return result
}

func attribute(from *C.mnn_attribute_t, shown *showing) Attribute {
	to := Attribute{
		Key:        C.GoString(from.key),
		Int:        int32(from.int_value),
		Float:      float32(from.float_value),
		Bool:       from.bool_value != 0,
		Text:       C.GoString(from.text),
		Ints:       copied((*int32)(unsafe.Pointer(from.ints)), from.int_count),
		Floats:     copied((*float32)(unsafe.Pointer(from.floats)), from.float_count),
		Function:   C.GoString(from.function),
		Attributes: attributes(from.attributes, from.attribute_count, shown),
	}
	for _, value := range unsafe.Slice(from.bools, int(from.bool_count)) {
		to.Bools = append(to.Bools, value != 0)
	}
	for _, text := range unsafe.Slice(from.texts, int(from.text_count)) {
		to.Texts = append(to.Texts, C.GoString(text))
	}
	if from.tensor != nil {
		to.Tensor = &HostTensor{tensor: from.tensor, shown: shown}
	}
	return to
}
