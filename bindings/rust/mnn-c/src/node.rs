//! The arguments of an own operator: nodes with their attributes, and tensors in row-major order.

use crate::call::optional_text;
use crate::codes::{ElementType, Format};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::mem::size_of;
use std::os::raw::c_char;

/// A list of the library; its pointer may be NULL where it is empty.
///
/// # Safety
/// `count` elements lie at `data` for `'a`.
pub(crate) unsafe fn list<'a, T>(data: *const T, count: usize) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: the caller keeps the promise of this function.
        count => unsafe { std::slice::from_raw_parts(data, count) },
    }
}

/// # Safety
/// The pointer is NULL, or points to a string that lives for `'a`.
unsafe fn text<'a>(pointer: *const c_char) -> Cow<'a, str> {
    // SAFETY: the caller keeps the promise of this function.
    unsafe { optional_text(pointer) }.unwrap_or_default()
}

/// A node that an [`Operator`](crate::Operator) computes, as the model's file describes it.
#[derive(Clone, Copy)]
pub struct Node<'c>(&'c sys::mnn_node_t);

impl<'c> Node<'c> {
    /// # Safety
    /// The node belongs to a callback, which lasts for `'c`.
    pub(crate) unsafe fn new(node: &'c sys::mnn_node_t) -> Self {
        Self(node)
    }

    /// Its own name, else that of its first output.
    pub fn name(&self) -> Cow<'c, str> {
        // SAFETY: the string lives as long as the node.
        unsafe { text(self.0.name) }
    }

    /// The name under which the operator is registered; for a backend that of the format.
    pub fn type_name(&self) -> Cow<'c, str> {
        // SAFETY: the string lives as long as the node.
        unsafe { text(self.0.type_name) }
    }

    /// The operator's name in the format: `Plugin`, `Extra` or another operator.
    pub fn schema_type(&self) -> Cow<'c, str> {
        // SAFETY: the string lives as long as the node.
        unsafe { text(self.0.schema_type) }
    }

    /// The origin of an `Extra`, e.g. `ONNX`; else empty.
    pub fn engine(&self) -> Cow<'c, str> {
        // SAFETY: the string lives as long as the node.
        unsafe { text(self.0.engine) }
    }

    /// The bytes of an `Extra`, which have no meaning to the library.
    pub fn info(&self) -> &'c [u8] {
        // SAFETY: the bytes live as long as the node.
        unsafe { list(self.0.info.cast(), self.0.info_size) }
    }

    /// The attributes of a `Plugin` or an `Extra`, in the order of the file.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'c>> {
        // SAFETY: the attributes live as long as the node.
        unsafe { attributes(self.0.attributes, self.0.attribute_count) }
    }

    /// The first attribute with a key. Fails with [`ErrorKind::NotFound`] where there is none.
    pub fn attribute(&self, key: &str) -> Result<Attribute<'c>> {
        self.attributes()
            .find(|attribute| attribute.key() == key)
            .ok_or_else(|| {
                let message = format!("node '{}' has no attribute '{key}'", self.name());
                Error::new(ErrorKind::NotFound, message)
            })
    }

    /// How many inputs it has.
    pub fn input_count(&self) -> usize {
        self.0.input_count
    }

    /// How many outputs it has.
    pub fn output_count(&self) -> usize {
        self.0.output_count
    }
}

/// # Safety
/// The list of `count` attributes lives for `'a`.
unsafe fn attributes<'a>(
    data: *const *const sys::mnn_attribute_t,
    count: usize,
) -> impl Iterator<Item = Attribute<'a>> {
    // SAFETY: the caller keeps the promise of this function; no entry is NULL.
    unsafe { list(data, count) }
        .iter()
        .map(|attribute| Attribute(unsafe { &**attribute }))
}

/// A named value of a node. The format does not record its kind: values that an attribute does not have are 0, `None`
/// or empty.
#[derive(Clone, Copy)]
pub struct Attribute<'c>(&'c sys::mnn_attribute_t);

impl<'c> Attribute<'c> {
    /// Its name.
    pub fn key(&self) -> Cow<'c, str> {
        // SAFETY: the string lives as long as the attribute.
        unsafe { text(self.0.key) }
    }

    /// The whole number.
    pub fn int(&self) -> i32 {
        self.0.int_value
    }

    /// The number.
    pub fn float(&self) -> f32 {
        self.0.float_value
    }

    /// The truth value.
    pub fn bool(&self) -> bool {
        self.0.bool_value != 0
    }

    /// The text.
    pub fn text(&self) -> Option<Cow<'c, str>> {
        // SAFETY: the pointer is NULL, or a string that lives as long as the attribute.
        unsafe { optional_text(self.0.text) }
    }

    /// The list of whole numbers.
    pub fn ints(&self) -> &'c [i32] {
        // SAFETY: the list lives as long as the attribute.
        unsafe { list(self.0.ints, self.0.int_count) }
    }

    /// The list of numbers.
    pub fn floats(&self) -> &'c [f32] {
        // SAFETY: the list lives as long as the attribute.
        unsafe { list(self.0.floats, self.0.float_count) }
    }

    /// The list of truth values.
    pub fn bools(&self) -> Vec<bool> {
        // SAFETY: the list lives as long as the attribute.
        let bytes = unsafe { list(self.0.bools, self.0.bool_count) };
        bytes.iter().map(|byte| *byte != 0).collect()
    }

    /// The list of texts.
    pub fn texts(&self) -> Vec<Cow<'c, str>> {
        // SAFETY: the list and its strings live as long as the attribute.
        unsafe { list(self.0.texts, self.0.text_count) }
            .iter()
            .map(|pointer| unsafe { text(*pointer) })
            .collect()
    }

    /// The tensor; also `None` for a tensor of texts.
    pub fn tensor(&self) -> Option<HostTensor<'c>> {
        // SAFETY: the pointer is NULL, or a tensor that lives as long as the attribute.
        unsafe { self.0.tensor.as_ref() }.map(HostTensor)
    }

    /// The name of a list of attributes, and the list.
    pub fn function(&self) -> Option<(Cow<'c, str>, Vec<Attribute<'c>>)> {
        // SAFETY: the pointer is NULL or a string; string and list live as long as the attribute.
        let name = unsafe { optional_text(self.0.function) }?;
        let list = unsafe { attributes(self.0.attributes, self.0.attribute_count) };
        Some((name, list.collect()))
    }
}

/// A tensor that a callback reads. Its elements are row-major over its extents.
#[derive(Clone, Copy)]
pub struct HostTensor<'c>(&'c sys::mnn_host_tensor_t);

impl<'c> HostTensor<'c> {
    /// # Safety
    /// The tensor belongs to a callback, and nothing writes its data for `'c`.
    pub(crate) unsafe fn new(tensor: &'c sys::mnn_host_tensor_t) -> Self {
        Self(tensor)
    }

    /// The name; empty when the tensor has none.
    pub fn name(&self) -> Cow<'c, str> {
        // SAFETY: the string lives as long as the tensor.
        unsafe { text(self.0.name) }
    }

    /// The extents, in the order of the format.
    pub fn dims(&self) -> &'c [i32] {
        &self.0.dims[..usize::try_from(self.0.rank).unwrap_or(0)]
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        ElementType::from_code(self.0.r#type)
    }

    /// The order of the extents. [`Format::Nc4hw4`] has the order of [`Format::Nchw`], also in memory.
    pub fn format(&self) -> Format {
        Format::from_code(self.0.format)
    }

    /// The elements. Fails with [`ErrorKind::BadType`] when they are of another type, and with [`ErrorKind::BadState`]
    /// when they are not known in this callback.
    pub fn values<T: Element>(&self) -> Result<&'c [T]> {
        let count = count::<T>(self.0)?;
        // SAFETY: `data` has `count` aligned elements of that type, which live as long as the tensor.
        Ok(unsafe { list(self.0.data.cast(), count) })
    }
}

/// A tensor whose elements a callback writes, all of them: their values are unspecified before.
pub struct HostTensorMut<'c>(&'c mut sys::mnn_host_tensor_t);

impl<'c> HostTensorMut<'c> {
    /// # Safety
    /// The tensor is an output of a callback, and nothing else uses it for `'c`.
    pub(crate) unsafe fn new(tensor: &'c mut sys::mnn_host_tensor_t) -> Self {
        Self(tensor)
    }

    /// The same tensor, to be read.
    pub fn as_tensor(&self) -> HostTensor<'_> {
        HostTensor(self.0)
    }

    /// The elements. Fails with [`ErrorKind::BadType`] when they are of another type.
    pub fn values_mut<T: Element>(&mut self) -> Result<&mut [T]> {
        match count::<T>(self.0)? {
            0 => Ok(&mut []),
            // SAFETY: `data` has `count` aligned elements of that type, which this tensor alone uses.
            count => Ok(unsafe { std::slice::from_raw_parts_mut(self.0.data.cast(), count) }),
        }
    }
}

/// Returns the number of elements at `data`.
fn count<T: Element>(tensor: &sys::mnn_host_tensor_t) -> Result<usize> {
    let found = ElementType::from_code(tensor.r#type);
    if found != T::TYPE {
        let message = format!("the elements are of type {found:?}, not {:?}", T::TYPE);
        return Err(Error::new(ErrorKind::BadType, message));
    }
    if tensor.data.is_null() && tensor.bytes > 0 {
        let message = "the elements are not known in this callback";
        return Err(Error::new(ErrorKind::BadState, message));
    }
    Ok(tensor.bytes / size_of::<T>())
}
