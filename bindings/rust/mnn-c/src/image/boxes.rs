//! Finds boxes in the outputs of detectors.

use super::{check, number, BoxColumn, BoxUnit};
use crate::call::initialised;
use crate::error::{Error, ErrorKind, Result};
use crate::mirror::setters;
use mnn_c_sys as sys;

/// An output of a net: its values, and its extents in the order of [`Format::Nchw`](crate::Format::Nchw).
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// As many as the product of the extents.
    pub values: &'a [f32],
    /// At most nine.
    pub shape: &'a [u32],
}

/// A box that a detector found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundBox {
    /// The left, upper, right and lower edge, in pixels of the picture.
    pub edges: [f64; 4],
    /// The product of the scores that the outputs have, or 1.
    pub score: f64,
    /// The class, where it is known.
    pub class: Option<u32>,
}

/// The way in which the outputs of a detector describe boxes, and which of them are wanted. The default is the whole
/// input, a guessed unit and a score of 0.5.
///
/// ```
/// use mnn_c::image::{BoxColumn, Detector, Output};
///
/// # fn main() -> mnn_c::Result<()> {
/// let columns = [BoxColumn::X1, BoxColumn::Y1, BoxColumn::X2, BoxColumn::Y2, BoxColumn::Score];
/// let rows = Output { values: &[1.0, 2.0, 3.0, 4.0, 0.75], shape: &[1, 5] };
/// let found = Detector::new(&columns, (10, 10), (20, 40)).boxes(rows, None, None)?;
/// assert_eq!(found[0].edges, [2.0, 8.0, 6.0, 16.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Detector {
    columns: Vec<BoxColumn>,
    input: (u32, u32),
    picture: (u32, u32),
    part: (u32, u32, u32, u32),
    unit: BoxUnit,
    min_score: f64,
    overlap: Option<f64>,
    background: Option<u32>,
}

impl Detector {
    /// A detector whose output of boxes has these columns, for an input and a picture of these (width, height).
    pub fn new(columns: &[BoxColumn], input: (u32, u32), picture: (u32, u32)) -> Self {
        Self {
            columns: columns.to_vec(),
            input,
            picture,
            part: (0, 0, 0, 0),
            unit: BoxUnit::Guessed,
            min_score: 0.5,
            overlap: None,
            background: None,
        }
    }

    setters! {
        /// The (left, top, width, height) of the picture in the input.
        part: (u32, u32, u32, u32);
        /// The unit of coordinates.
        unit: BoxUnit;
        /// Boxes with smaller scores are left out.
        min_score: f64;
        /// A box is left out that shares more than this part, 0 to 1, with a better one of its class. The default is
        /// 0.45 where the outputs have a score for each class, else 1.
        overlap: some f64;
        /// The class that means no object.
        background: some u32;
    }

    /// The boxes of one picture, the best one first, at most [`MAX_BOXES`](super::MAX_BOXES). `boxes` has a row, or a
    /// column, for each box; `scores` a number for each box, or one for each class of each box; `classes` a number for
    /// each box.
    ///
    /// Fails with [`ErrorKind::InvalidValue`] (columns that do not describe a box), [`ErrorKind::BadRange`] (an extent,
    /// the part of the input, the overlap, or values that do not fit their shape) and [`ErrorKind::ComputeSize`] (an
    /// output that is no table with these columns, or does not have a number for each box).
    pub fn boxes(
        &self,
        boxes: Output<'_>,
        scores: Option<Output<'_>>,
        classes: Option<Output<'_>>,
    ) -> Result<Vec<FoundBox>> {
        // SAFETY: the function initialises this struct.
        let mut detector: sys::mnn_image_detector_t =
            unsafe { initialised(sys::mnn_image_detector_init, check) }?;
        let count = self.columns.len();
        if count > detector.columns.len() {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the detector has {count} columns, at most {} are allowed",
                    detector.columns.len()
                ),
            ));
        }
        for (place, column) in detector.columns.iter_mut().zip(&self.columns) {
            *place = column.code();
        }
        detector.column_count = count as i32;
        detector.unit = self.unit.code();
        (detector.input_width, detector.input_height) = (number(self.input.0), number(self.input.1));
        (detector.picture_width, detector.picture_height) = (number(self.picture.0), number(self.picture.1));
        (detector.left, detector.top) = (number(self.part.0), number(self.part.1));
        (detector.width, detector.height) = (number(self.part.2), number(self.part.3));
        detector.min_score = self.min_score;
        if let Some(overlap) = self.overlap {
            (detector.has_overlap, detector.overlap) = (1, overlap);
        }
        if let Some(background) = self.background {
            (detector.has_background, detector.background) = (1, number(background));
        }
        let boxes = describe(Some(boxes), &mut detector.boxes_dims, &mut detector.boxes_rank)?;
        let scores = describe(scores, &mut detector.scores_dims, &mut detector.scores_rank)?;
        let classes = describe(classes, &mut detector.classes_dims, &mut detector.classes_rank)?;
        let mut numbers = vec![0.0; 6 * super::MAX_BOXES];
        let mut needed = 0;
        // SAFETY: the outputs have as many values as their extents say, and the numbers lie in their memory.
        check(unsafe {
            sys::mnn_image_boxes(
                &detector,
                boxes,
                scores,
                classes,
                numbers.as_mut_ptr(),
                numbers.len(),
                &mut needed,
            )
        })?;
        let found = |row: &[f64]| FoundBox {
            edges: [row[0], row[1], row[2], row[3]],
            score: row[4],
            class: (row[5] >= 0.0).then_some(row[5] as u32),
        };
        Ok(numbers[..needed].chunks_exact(6).map(found).collect())
    }
}

/// Writes the extents of an output and returns its values.
fn describe(output: Option<Output<'_>>, dims: &mut [i32; 9], rank: &mut i32) -> Result<*const f32> {
    let (values, shape) = match output {
        Some(output) => (output.values, output.shape),
        None => return Ok(std::ptr::null()),
    };
    let count = shape
        .iter()
        .try_fold(1usize, |count, &extent| count.checked_mul(extent as usize));
    if shape.is_empty() || shape.len() > dims.len() || count != Some(values.len()) {
        let message = format!("{} values do not have the shape {shape:?}", values.len());
        return Err(Error::new(ErrorKind::BadRange, message));
    }
    for (place, &extent) in dims.iter_mut().zip(shape) {
        *place = number(extent);
    }
    *rank = shape.len() as i32;
    Ok(values.as_ptr())
}
