//! Access to the elements of tensors in place.

use crate::call::check;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::TensorMut;
use mnn_c_sys as sys;
use std::marker::PhantomData;
use std::mem::align_of;
use std::ops::{Deref, DerefMut};
use std::ptr::{null_mut, NonNull};

/// A mapping that is in effect; dropping it ends the mapping.
#[derive(Debug)]
struct Mapping<'t, T> {
    tensor: NonNull<sys::mnn_tensor_t>,
    data: NonNull<T>,
    count: usize,
    alone: PhantomData<&'t mut [T]>,
}

// SAFETY: a mapping represents a tensor that is borrowed exclusively, and its elements.
unsafe impl<T: Element> Send for Mapping<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Mapping<'_, T> {}

impl<'t, T: Element> Mapping<'t, T> {
    fn new(tensor: &'t mut TensorMut<'_>, access: i32) -> Result<Self> {
        tensor.require_type::<T>()?;
        let count = tensor.element_count()?;
        let handle = tensor.as_ptr_mut();
        let mut data = null_mut();
        // SAFETY: the tensor is borrowed exclusively.
        check(unsafe { sys::mnn_tensor_map(handle, access, &mut data) })?;
        let mut mapping = Self {
            // SAFETY: the handle comes from a NonNull.
            tensor: unsafe { NonNull::new_unchecked(handle) },
            data: NonNull::dangling(),
            count: 0,
            alone: PhantomData,
        };
        // An empty tensor has no memory.
        if let Some(data) = NonNull::new(data).filter(|_| count > 0) {
            if data.as_ptr() as usize % align_of::<T>() != 0 {
                let message = format!("the elements of tensor '{}' are not aligned", tensor.name()?);
                return Err(Error::new(ErrorKind::Internal, message));
            }
            mapping.data = data.cast();
            mapping.count = count;
        }
        Ok(mapping)
    }

    fn elements(&self) -> &[T] {
        // SAFETY: `count` aligned elements lie there, mapped for reading or written before; any bits are a value.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.count) }
    }

    fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the tensor is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.count) }
    }

    fn end(self) -> Result<()> {
        let tensor = self.tensor.as_ptr();
        std::mem::forget(self);
        // SAFETY: the tensor is borrowed exclusively, and the elements are not used any more.
        check(unsafe { sys::mnn_tensor_unmap(tensor) })
    }
}

impl<T> Drop for Mapping<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the tensor is borrowed exclusively, and the elements are not used any more.
        unsafe { sys::mnn_tensor_unmap(self.tensor.as_ptr()) };
    }
}

/// The elements of a tensor in place, to read.
#[derive(Debug)]
pub struct Mapped<'t, T: Element>(Mapping<'t, T>);

/// The elements of an input in place, to read and write.
#[derive(Debug)]
pub struct MappedMut<'t, T: Element>(Mapping<'t, T>);

impl TensorMut<'_> {
    /// The elements in place, to read: of an input, or of an output after a run. They are row-major in the
    /// tensor's own order, which is NHWC for `Nhwc` and NCHW for the others.
    ///
    /// ```
    /// # use mnn_c::{Format, Interpreter, ScheduleConfig};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
    /// # let net = Interpreter::from_file(path)?;
    /// # let mut session = net.create_session(&ScheduleConfig::new())?;
    /// session.input_mut("image")?.map_mut::<f32>()?.fill(0.5);
    /// session.run()?;
    /// let mut scores = session.output_mut("scores")?;
    /// let best = scores.map::<f32>()?.iter().cloned().fold(f32::MIN, f32::max);
    /// # assert!(best > f32::MIN);
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    pub fn map<T: Element>(&mut self) -> Result<Mapped<'_, T>> {
        Mapping::new(self, sys::MNN_MAP_READ).map(Mapped)
    }

    /// The elements of an input in place, to read and write. Written elements take effect when the mapping ends.
    pub fn map_mut<T: Element>(&mut self) -> Result<MappedMut<'_, T>> {
        Mapping::new(self, sys::MNN_MAP_READ | sys::MNN_MAP_WRITE).map(MappedMut)
    }

    /// The elements of an input in place, to write: they start as zeros, not as the values that the tensor held. This
    /// saves copying those where the tensor is not stored row-major.
    pub fn map_write<T: Element>(&mut self) -> Result<MappedMut<'_, T>> {
        let mapping = Mapping::<T>::new(self, sys::MNN_MAP_WRITE)?;
        let (data, count) = (mapping.data.as_ptr(), mapping.count);
        // SAFETY: `count` elements lie there. They are written before they can be read; zeros are a value of every
        // type.
        unsafe { data.write_bytes(0, count) };
        Ok(MappedMut(mapping))
    }
}

impl<T: Element> MappedMut<'_, T> {
    /// Ends the mapping, like dropping it, and returns whether written elements took effect.
    pub fn unmap(self) -> Result<()> {
        self.0.end()
    }
}

impl<T: Element> Deref for Mapped<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.elements()
    }
}

impl<T: Element> Deref for MappedMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.elements()
    }
}

impl<T: Element> DerefMut for MappedMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.elements_mut()
    }
}
