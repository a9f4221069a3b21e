//! The module `image`: files, views, resizing, and the pixels of the official runtime's ImageProcess.
#![cfg(feature = "image")]

mod support;

use mnn_c::image::*;
use mnn_c::{ErrorKind, Format};
use std::path::Path;
use support::*;

const COLOUR: &[u8] = b"P6 2 1 255\n\x0a\x14\x1e\xff\x80\x00";

/// Makes a picture whose bytes all differ.
fn picture(format: PixelFormat, width: u32, height: u32) -> Image {
    let count = byte_size(format, width, height, 0).unwrap();
    let pixels = (0..count).map(|i| (i * 37 % 251) as u8).collect();
    Image::from_pixels(format, width, height, pixels).unwrap()
}

#[test]
fn files_are_decoded_into_every_format() {
    let found = info(COLOUR).unwrap();
    let wanted = ImageInfo {
        format: PixelFormat::Rgb,
        width: 2,
        height: 1,
    };
    assert_eq!(found, wanted);
    let gray =
        [(10 * 77 + 20 * 150 + 30 * 29) >> 8, (255 * 77 + 128 * 150) >> 8].map(|value: i32| value as u8);
    for (format, wanted) in [
        (PixelFormat::Rgba, &[10, 20, 30, 255, 255, 128, 0, 255][..]),
        (PixelFormat::Rgb, &[10, 20, 30, 255, 128, 0]),
        (PixelFormat::Bgr, &[30, 20, 10, 0, 128, 255]),
        (PixelFormat::Gray, &gray),
        (PixelFormat::Bgra, &[30, 20, 10, 255, 0, 128, 255, 255]),
    ] {
        let image = Image::decode(COLOUR, format).unwrap();
        assert_eq!((image.format(), image.width(), image.height()), (format, 2, 1));
        assert_eq!(image.pixels(), wanted);
        assert_eq!(image.view().stride(), 2 * format.channels());
        assert_eq!(image.into_pixels(), wanted);
    }
}

#[test]
fn a_png_file_has_the_pixels_that_were_written() {
    for format in [
        PixelFormat::Rgba,
        PixelFormat::Rgb,
        PixelFormat::Bgr,
        PixelFormat::Gray,
        PixelFormat::Bgra,
    ] {
        let image = picture(format, 5, 4);
        let file = image.view().encode_png().unwrap();
        assert_eq!(Image::decode(&file, format).unwrap(), image);
        assert!(Image::decode(&file[..file.len() / 2], format).is_err());
        // A part is resized, and a picture into a part of a larger one.
        let part = image.view().crop(1, 2, 3, 2).unwrap();
        let file = part.encode_png().unwrap();
        let mut larger = Image::new(format, 6, 3).unwrap();
        larger.view_mut().crop(2, 1, 3, 2).unwrap().decode(&file).unwrap();
        let channels = format.channels();
        for y in 0..3 {
            for x in 0..6 {
                let at = (y * 6 + x) * channels;
                let inside = y > 0 && (2..5).contains(&x);
                let from = if inside {
                    ((y + 1) * 5 + x - 1) * channels
                } else {
                    0
                };
                for c in 0..channels {
                    let wanted = if inside { image.pixels()[from + c] } else { 0 };
                    assert_eq!(larger.pixels()[at + c], wanted, "{format:?} ({x}, {y}) {c}");
                }
            }
        }
    }
}

#[test]
fn resizing_counts_every_pixel() {
    let mut checks = Image::new(PixelFormat::Gray, 64, 64).unwrap();
    for (i, pixel) in checks.view_mut().pixels().iter_mut().enumerate() {
        *pixel = ((i + i / 64) % 2 * 200) as u8;
    }
    let small = checks.view().resize(7, 5).unwrap();
    assert!(
        small.pixels().iter().all(|pixel| (95..=105).contains(pixel)),
        "{:?}",
        small.pixels()
    );
    let same = checks.view().resize(64, 64).unwrap();
    assert_eq!(same, checks);
    // A part with a stride is resized into another.
    let photo = picture(PixelFormat::Rgb, 9, 7);
    let mut target = Image::new(PixelFormat::Rgb, 9, 7).unwrap();
    let part = photo.view().crop(2, 1, 4, 5).unwrap();
    let mut view = target.view_mut();
    let mut to = view.crop(5, 0, 4, 5).unwrap();
    part.resize_into(&mut to).unwrap();
    assert_eq!(to.as_view().encode_png().unwrap(), part.encode_png().unwrap());
    let other = Image::new(PixelFormat::Bgr, 9, 7).unwrap();
    assert_fails(other.view().resize_into(&mut view), ErrorKind::BadType);
}

#[test]
fn values_are_those_of_the_formula() {
    let image = picture(PixelFormat::Rgb, 4, 3);
    let to = Conversion::new(PixelFormat::Bgr, 4, 3)
        .mean([1.0, 2.0, 3.0, 0.0])
        .scale([0.5, 0.25, 2.0, 1.0]);
    let values: Vec<f32> = to.convert(&image.view()).unwrap();
    let swapped: Vec<f32> = to.layout(Format::Nhwc).convert(&image.view()).unwrap();
    for (i, pixel) in image.pixels().chunks(3).enumerate() {
        let wanted = [
            (f32::from(pixel[2]) - 1.0) * 0.5,
            (f32::from(pixel[1]) - 2.0) * 0.25,
            (f32::from(pixel[0]) - 3.0) * 2.0,
        ];
        for (c, wanted) in wanted.into_iter().enumerate() {
            assert_eq!((values[c * 12 + i], swapped[i * 3 + c]), (wanted, wanted));
        }
    }
    assert_eq!(resize_matrix((4, 9), (2, 3)), [2.0, 0.0, 0.5, 0.0, 3.0, 1.0]);
}

#[test]
fn pictures_feed_a_session() {
    let digit = picture(PixelFormat::Gray, 8, 8);
    let values: Vec<f32> = Conversion::new(PixelFormat::Gray, 8, 8)
        .scale([1.0 / 16.0; 4])
        .convert(&digit.view())
        .unwrap();
    assert_eq!(classify(&mut open_session(), &values).unwrap().len(), CLASSES);
}

/// Reads numbers of official.bin.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes
    }
    fn number(&mut self) -> i32 {
        i32::from_le_bytes(self.bytes(4).try_into().unwrap())
    }
    fn size(&mut self) -> u32 {
        self.number().try_into().unwrap()
    }
    fn floats<const N: usize>(&mut self) -> [f32; N] {
        [(); N].map(|()| f32::from_le_bytes(self.bytes(4).try_into().unwrap()))
    }
}

#[test]
fn the_pixels_are_those_of_the_official_runtime() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/image/official.bin");
    let content = std::fs::read(path).unwrap();
    let mut file = Reader(&content);
    let (mut compared, mut different) = (0, 0);
    for _ in 0..file.number() {
        let source = PixelFormat::from_code(file.number());
        let (width, height, stride, bytes) = (file.size(), file.size(), file.size(), file.size());
        let target = PixelFormat::from_code(file.number());
        let mut to =
            Conversion::new(target, file.size(), file.size()).layout(Format::from_code(file.number()));
        let is_bytes = file.number() == mnn_c::ElementType::Uint8.code();
        let filter = Filter::from_code(file.number());
        to = to.filter(filter).wrap(Wrap::from_code(file.number()));
        to = to.padding(file.number().try_into().unwrap());
        to = to.matrix(file.floats()).mean(file.floats()).scale(file.floats());
        let count = file.size() as usize;
        let pixels = file.bytes(bytes as usize);
        let view = ImageView::with_stride(source, width, height, stride as usize, pixels).unwrap();
        if is_bytes {
            let wanted = file.bytes(count);
            let values: Vec<u8> = to.convert(&view).unwrap();
            assert_eq!(values.len(), count);
            for (value, wanted) in values.iter().zip(wanted) {
                let limit = u8::from(filter == Filter::Bilinear);
                assert!(value.abs_diff(*wanted) <= limit, "{source:?} {to:?}");
                different += usize::from(value != wanted);
            }
        } else {
            let wanted: Vec<f32> = (0..count).map(|_| file.floats::<1>()[0]).collect();
            let values: Vec<f32> = to.convert(&view).unwrap();
            assert_eq!(values, wanted, "{source:?} {to:?}");
        }
        compared += count;
    }
    assert!(file.0.is_empty());
    assert!(
        compared > 50_000 && different * 2000 <= compared,
        "{different} of {compared}"
    );
}

#[test]
fn wrong_arguments_are_refused() {
    let image = picture(PixelFormat::Rgb, 6, 4);
    let view = image.view();
    let decode = |file: &[u8]| Image::decode(file, PixelFormat::Rgb);
    assert_fails(decode(b"no picture"), ErrorKind::BadFormat);
    assert_fails(decode(b""), ErrorKind::BadFormat);
    assert_fails(decode(&COLOUR[..COLOUR.len() - 1]), ErrorKind::Truncated);
    assert_fails(decode(b"P5 70000 1 255\n"), ErrorKind::LimitExceeded);
    assert_fails(Image::decode(COLOUR, PixelFormat::Nv12), ErrorKind::NotSupported);
    assert_fails(
        Image::new(PixelFormat::Rgb, 1, 1)
            .unwrap()
            .view_mut()
            .decode(COLOUR),
        ErrorKind::ComputeSize,
    );
    assert_fails(Image::new(PixelFormat::Other(77), 1, 1), ErrorKind::InvalidValue);
    assert_fails(Image::new(PixelFormat::Rgb, 0, 1), ErrorKind::BadRange);
    assert_fails(Image::new(PixelFormat::Rgb, 1, u32::MAX), ErrorKind::BadRange);
    assert_fails(
        Image::from_pixels(PixelFormat::Rgb, 2, 2, vec![0; 13]),
        ErrorKind::InputData,
    );
    let text = assert_fails(
        ImageView::new(PixelFormat::I420, 3, 3, &[0; 16]),
        ErrorKind::BufferTooSmall,
    );
    assert!(text.contains("17") && text.contains("16"), "{text}");
    assert_fails(
        ImageView::with_stride(PixelFormat::Rgb, 3, 3, 8, &[0; 99]),
        ErrorKind::BadRange,
    );
    for (x, y, width, height) in [(4, 0, 3, 1), (0, 4, 1, 1), (0, 0, 0, 1), (u32::MAX, 0, 1, 1)] {
        assert_fails(view.crop(x, y, width, height), ErrorKind::BadRange);
    }
    assert_fails(view.resize(0, 3), ErrorKind::BadRange);
    assert_fails(view.resize(u32::MAX, u32::MAX), ErrorKind::BadRange);
    assert_fails(view.resize(MAX_EXTENT, MAX_EXTENT), ErrorKind::LimitExceeded);
    let frame = picture(PixelFormat::Nv21, 4, 4);
    assert_fails(frame.view().crop(0, 0, 1, 1), ErrorKind::NotSupported);
    assert_fails(frame.view().resize(2, 2), ErrorKind::NotSupported);
    assert_fails(frame.view().encode_png(), ErrorKind::NotSupported);
}

#[test]
fn wrong_conversions_are_refused() {
    let image = picture(PixelFormat::Rgb, 6, 4);
    let frame = picture(PixelFormat::Nv21, 4, 4);
    let to = Conversion::new(PixelFormat::Rgb, 6, 4);
    let fails = |to: Conversion, image: &Image, kind: ErrorKind| {
        assert_fails(to.convert::<f32>(&image.view()), kind);
    };
    fails(
        to.clone().filter(Filter::Other(5)),
        &image,
        ErrorKind::InvalidValue,
    );
    fails(to.clone().wrap(Wrap::Other(5)), &image, ErrorKind::InvalidValue);
    fails(to.clone().layout(Format::Nc4hw4), &image, ErrorKind::InvalidValue);
    fails(to.clone().scale([f32::NAN; 4]), &image, ErrorKind::InvalidValue);
    fails(
        to.clone().matrix([f32::INFINITY; 6]),
        &image,
        ErrorKind::InvalidValue,
    );
    fails(to.clone().wrap(Wrap::Repeat), &frame, ErrorKind::NotSupported);
    fails(
        Conversion::new(PixelFormat::Nv12, 6, 4),
        &image,
        ErrorKind::NotSupported,
    );
    fails(
        Conversion::new(PixelFormat::Rgb, 0, 4),
        &image,
        ErrorKind::BadRange,
    );
    let mut values = [7u8; 75];
    assert_fails(
        to.convert_into(&image.view(), &mut values[..71]),
        ErrorKind::BufferTooSmall,
    );
    assert_eq!(values, [7; 75]);
    to.convert_into(&image.view(), &mut values).unwrap();
    assert_eq!(values[72..], [7; 3]);
    assert_eq!(values[0], image.pixels()[0]);
}

#[test]
fn boxes_of_a_detector_lie_in_the_picture() {
    use BoxColumn::*;
    let mut rows = [[0.0f32; 6]; 8];
    rows[0] = [5.0, 5.0, 4.0, 4.0, 0.25, 0.5];
    rows[1] = [20.0, 5.0, 4.0, 4.0, 0.75, 0.0];
    rows[2] = [20.0, 5.0, 4.0, 4.0, 0.625, 0.0];
    let values = rows.concat();
    let rows = Output {
        values: &values,
        shape: &[1, 8, 6],
    };
    let detector = Detector::new(&[CentreX, CentreY, Width, Height, Classes], (30, 10), (60, 40));
    let found = detector.boxes(rows, None, None).unwrap();
    let list: Vec<_> = found
        .iter()
        .map(|one| (one.edges, one.score, one.class))
        .collect();
    let wanted = [
        ([36.0, 12.0, 44.0, 28.0], 0.75, Some(0)),
        ([6.0, 12.0, 14.0, 28.0], 0.5, Some(1)),
    ];
    assert_eq!(list, wanted);
    let all = detector.clone().overlap(1.0).boxes(rows, None, None).unwrap();
    assert_eq!(all.len(), 3);
    let objects = detector
        .clone()
        .background(0)
        .min_score(0.3)
        .boxes(rows, None, None);
    assert_eq!(objects.unwrap(), found[1..]);

    let edges = Output {
        values: &[3.0, 5.0, 15.0, 7.5],
        shape: &[1, 4],
    };
    let one = |values| Some(Output { values, shape: &[1] });
    let corners = Detector::new(&[X1, Y1, X2, Y2], (30, 10), (60, 40))
        .part((0, 5, 30, 5))
        .unit(BoxUnit::Pixels);
    let found = corners.boxes(edges, one(&[0.5]), one(&[7.0])).unwrap();
    assert_eq!(
        (found[0].edges, found[0].class),
        ([6.0, 0.0, 30.0, 20.0], Some(7))
    );
    assert_eq!(corners.boxes(edges, None, None).unwrap()[0].class, None);
    let short = Output {
        values: &[1.0],
        shape: &[1, 4],
    };
    assert_eq!(
        corners.boxes(short, None, None).unwrap_err().kind(),
        ErrorKind::BadRange
    );
    let wrong = Detector::new(&[X1, Y1, X2], (1, 1), (1, 1)).boxes(edges, None, None);
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::InvalidValue);
}
