//! Tensors from and to arrays of the crate `ndarray`.

use crate::codes::Format;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::{Tensor, TensorMut};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl Tensor<'_> {
    /// Copies the tensor into an array of its shape, in the order of its own format.
    pub fn read_array<T: Element>(&self) -> Result<ArrayD<T>> {
        let elements = self.read(self.row_major()?)?;
        // No extent is open when elements can be read.
        let dims: Vec<usize> = self.shape()?.iter().map(|&extent| extent as usize).collect();
        ArrayD::from_shape_vec(IxDyn(&dims), elements)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
    }

    /// Returns the order of an array of the tensor's shape.
    fn row_major(&self) -> Result<Format> {
        Ok(match self.format()? {
            Format::Nhwc => Format::Nhwc,
            _ => Format::Nchw,
        })
    }
}

impl TensorMut<'_> {
    /// Copies an array into an input. The array has the tensor's shape, in the order of the tensor's own format.
    pub fn write_array<T, S, D>(&mut self, array: &ArrayBase<S, D>) -> Result<()>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let shape = self.shape()?;
        let same = shape.len() == array.ndim()
            && std::iter::zip(&shape, array.shape()).all(|(&a, &b)| usize::try_from(a) == Ok(b));
        if !same {
            let message = format!(
                "input '{}' has the shape {shape:?}, the array {:?}",
                self.name()?,
                array.shape()
            );
            return Err(Error::new(ErrorKind::InputData, message));
        }
        let format = self.row_major()?;
        match array.as_slice() {
            Some(elements) => self.write(elements, format),
            None => self.write(&array.iter().copied().collect::<Vec<T>>(), format),
        }
    }
}
