//! Inputs and outputs of a session.

use crate::call::{check, get, get_shape, get_text};
use crate::codes::{ElementType, Format};
use crate::element::{Element, HostElement};
use crate::error::{Error, ErrorKind, Result};
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem::{size_of, size_of_val};
use std::ops::Deref;
use std::ptr::NonNull;

/// An input or an output of a session, to be read. Several threads may do so at once.
#[derive(Debug)]
pub struct Tensor<'s> {
    handle: NonNull<sys::mnn_tensor_t>,
    // Tensor has no Clone, because a TensorMut lends its Tensor only while it does not write itself.
    session: PhantomData<&'s ()>,
}

// SAFETY: only const functions are called, which any number of threads may call at once.
unsafe impl Send for Tensor<'_> {}
// SAFETY: as above.
unsafe impl Sync for Tensor<'_> {}

impl<'s> Tensor<'s> {
    /// # Safety
    /// The tensor lives for `'s`, and does not change meanwhile.
    pub(crate) unsafe fn new(handle: NonNull<sys::mnn_tensor_t>) -> Self {
        Self {
            handle,
            session: PhantomData,
        }
    }

    /// Its name.
    pub fn name(&self) -> Result<Cow<'s, str>> {
        // SAFETY: the string lives as long as the session.
        unsafe { get_text(|name| sys::mnn_tensor_name(self.as_ptr(), name)) }
    }

    /// Its extents in the order of its format. An input that needs a resize has its new shape, -1 for extents still
    /// open.
    pub fn shape(&self) -> Result<Vec<i32>> {
        get_shape(|dims, capacity, rank| {
            // SAFETY: the buffer has that capacity.
            unsafe { sys::mnn_tensor_shape(self.as_ptr(), dims, capacity, rank) }
        })
    }

    /// The type of its elements.
    pub fn element_type(&self) -> Result<ElementType> {
        Ok(self.properties()?.element_type)
    }

    /// Its dimension format: `Nhwc` when its shape is in that order; the shapes of the other two formats are in NCHW
    /// order.
    pub fn format(&self) -> Result<Format> {
        Ok(self.properties()?.format)
    }

    /// The number of its elements, without any padding.
    pub fn element_count(&self) -> Result<usize> {
        // SAFETY: the out-pointer points to a value.
        get(|count| unsafe { sys::mnn_tensor_element_count(self.as_ptr(), count) })
    }

    /// The bytes of a buffer that holds it in a format.
    pub fn byte_size(&self, format: Format) -> Result<usize> {
        // SAFETY: the out-pointer points to a value.
        get(|bytes| unsafe { sys::mnn_tensor_byte_size(self.as_ptr(), format.code(), bytes) })
    }

    /// Copies the elements of an output after a run, or of an input, in a format.
    ///
    /// Fails with [`ErrorKind::BadType`] when the elements are of another type.
    pub fn read<T: Element>(&self, format: Format) -> Result<Vec<T>> {
        let count = self.byte_size(format)? / size_of::<T>();
        let mut elements = vec![T::default(); count];
        self.read_into(&mut elements, format)?;
        Ok(elements)
    }

    /// Does the same as [`read`](Self::read) into a buffer, which may be larger: elements beyond the tensor are not
    /// written.
    pub fn read_into<T: Element>(&self, buffer: &mut [T], format: Format) -> Result<()> {
        self.require_type::<T>()?;
        let (data, bytes) = (buffer.as_mut_ptr().cast(), size_of_val(buffer));
        // SAFETY: the buffer has that many bytes, and its type takes any bits.
        check(unsafe { sys::mnn_tensor_read(self.as_ptr(), data, bytes, format.code()) })
    }

    /// Copies the elements in a format and converts them to a type: fractions round to nearest, and every number but 0
    /// is true. Fails with [`ErrorKind::InputData`] when one does not fit the type.
    pub fn read_as<T: HostElement>(&self, format: Format) -> Result<Vec<T>> {
        let own = self.element_type()?.size().max(1);
        let mut elements = vec![T::default(); self.byte_size(format)? / own];
        self.read_into_as(&mut elements, format)?;
        Ok(elements)
    }

    /// Does the same as [`read_as`](Self::read_as) into a buffer, which may be larger: elements beyond the tensor are
    /// not written.
    pub fn read_into_as<T: HostElement>(&self, buffer: &mut [T], format: Format) -> Result<()> {
        let (data, bytes) = (buffer.as_mut_ptr().cast(), size_of_val(buffer));
        let (element, format) = (T::HOST_TYPE.code(), format.code());
        // SAFETY: the buffer has that many bytes; the library writes values of the type, 0 or 1 for bool.
        check(unsafe { sys::mnn_tensor_read_as(self.as_ptr(), data, bytes, element, format) })
    }

    /// Checks that the elements are of the Rust type.
    pub(crate) fn require_type<T: Element>(&self) -> Result<()> {
        let own = self.element_type()?;
        if own == T::TYPE {
            return Ok(());
        }
        let message = format!(
            "tensor '{}' has elements of type {own:?}, not {:?}",
            self.name()?,
            T::TYPE
        );
        Err(Error::new(ErrorKind::BadType, message))
    }

    pub(crate) fn as_ptr(&self) -> *const sys::mnn_tensor_t {
        self.handle.as_ptr()
    }
}

/// A tensor of a session that is borrowed exclusively: to write, to map, to resize, and everything that [`Tensor`]
/// does.
#[derive(Debug)]
pub struct TensorMut<'s> {
    tensor: Tensor<'s>,
    session: NonNull<sys::mnn_session_t>,
    alone: PhantomData<&'s mut ()>,
}

// SAFETY: functions that are not const take `&mut TensorMut`, and the session is borrowed exclusively.
unsafe impl Send for TensorMut<'_> {}
// SAFETY: as above.
unsafe impl Sync for TensorMut<'_> {}

impl<'s> TensorMut<'s> {
    /// # Safety
    /// The tensor is one of the session, which is borrowed exclusively for `'s`.
    pub(crate) unsafe fn new(
        tensor: NonNull<sys::mnn_tensor_t>,
        session: NonNull<sys::mnn_session_t>,
    ) -> Self {
        Self {
            // SAFETY: the caller keeps the promise of this function; changes need `&mut self`.
            tensor: unsafe { Tensor::new(tensor) },
            session,
            alone: PhantomData,
        }
    }

    /// Copies elements into an input. `format` is the layout of the data; where it differs from the tensor's own, the
    /// data has the tensor's shape with its channel dimension moved.
    ///
    /// Fails with [`ErrorKind::BadType`] when the elements are of another type and with [`ErrorKind::InputData`] when
    /// their number is wrong.
    pub fn write<T: Element>(&mut self, data: &[T], format: Format) -> Result<()> {
        self.require_type::<T>()?;
        let (start, bytes) = (data.as_ptr().cast(), size_of_val(data));
        // SAFETY: the data has that many bytes; it is not kept.
        check(unsafe { sys::mnn_tensor_write(self.as_ptr_mut(), start, bytes, format.code()) })
    }

    /// Converts elements to the tensor's type and copies them into an input. Fails with [`ErrorKind::InputData`] when
    /// their number is wrong, or when a value does not fit: an integer out of range, a fraction or a NaN for an
    /// integer, a finite number that would be infinite.
    pub fn write_as<T: HostElement>(&mut self, data: &[T], format: Format) -> Result<()> {
        let (start, bytes) = (data.as_ptr().cast(), size_of_val(data));
        let (element, format) = (T::HOST_TYPE.code(), format.code());
        // SAFETY: the data has that many bytes; it is not kept.
        check(unsafe { sys::mnn_tensor_write_as(self.as_ptr_mut(), start, bytes, element, format) })
    }

    /// Changes the shape of an input, in the order of its format. The session then needs
    /// [`Session::resize`](crate::Session::resize), unless the shape is the present one.
    pub fn resize(&mut self, shape: &[i32]) -> Result<()> {
        let (session, input) = (self.session.as_ptr(), self.as_ptr_mut());
        // SAFETY: the shape has that length; both handles are borrowed exclusively.
        check(unsafe { sys::mnn_session_resize_input(session, input, shape.as_ptr(), shape.len()) })
    }

    pub(crate) fn as_ptr_mut(&mut self) -> *mut sys::mnn_tensor_t {
        self.tensor.handle.as_ptr()
    }
}

impl<'s> Deref for TensorMut<'s> {
    type Target = Tensor<'s>;

    fn deref(&self) -> &Tensor<'s> {
        &self.tensor
    }
}
