//! The demo: classifies the held-out images of `examples/digits`, draws a few of them as text beside the
//! prediction, and prints the accuracy over all of them.
//!
//! ```text
//! classify_digits [FOLDER]      FOLDER holds digits.mnn, test_images.bin and test_labels.bin
//! ```
//!
//! Exit code 0 when everything ran and at least 95 % were right.

use mnn_c::{Format, Interpreter, ScheduleConfig, Session};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const DRAWN: usize = 6;

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| format!("cannot read '{}': {error}", path.display()))
}

fn best_class(scores: &[f32]) -> usize {
    let mut best = 0;
    for (class, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = class;
        }
    }
    best
}

/// Prints an image, whose pixels are 0 to 16, beside the prediction.
fn draw(image: &[u8], predicted: usize, label: usize, score: f32) {
    const SHADES: &[u8] = b" .:-=+*#%@";
    for (y, row) in image.chunks(SIDE).enumerate() {
        let mut line = String::from("    ");
        for &pixel in row {
            let shade = SHADES[usize::from(pixel.min(16)) * 9 / 16] as char;
            line.extend([shade, shade]);
        }
        match y {
            3 => line += &format!("     predicted {predicted}   score {score:.2}"),
            4 if predicted == label => line += &format!("     label     {label}   right"),
            4 => line += &format!("     label     {label}   WRONG"),
            _ => {}
        }
        println!("{line}");
    }
    println!();
}

/// The scores of one image.
fn scores(session: &mut Session, image: &[u8]) -> mnn_c::Result<Vec<f32>> {
    let pixels: Vec<f32> = image.iter().map(|&pixel| f32::from(pixel) / 16.0).collect();
    session.input_mut("image")?.write(&pixels, Format::Nchw)?;
    session.run()?;
    session.output("scores")?.read(Format::Nchw)
}

/// Returns whether enough images were classified correctly.
fn classify(folder: &Path) -> Result<bool, Box<dyn Error>> {
    let images = read(folder, "test_images.bin")?;
    let labels = read(folder, "test_labels.bin")?;
    if labels.is_empty() || images.len() != labels.len() * PIXELS {
        let (images, labels) = (images.len(), labels.len());
        return Err(format!("{images} bytes of images do not fit {labels} labels").into());
    }
    let interpreter = Interpreter::from_file(folder.join("digits.mnn"))?;
    let mut session = interpreter.create_session(&ScheduleConfig::new())?;
    let mut right = 0;
    for (i, (image, &label)) in images.chunks(PIXELS).zip(&labels).enumerate() {
        let scores = scores(&mut session, image)?;
        let (predicted, label) = (best_class(&scores), usize::from(label));
        right += usize::from(predicted == label);
        if i < DRAWN {
            draw(image, predicted, label, scores[predicted]);
        }
    }
    let accuracy = 100.0 * right as f64 / labels.len() as f64;
    println!(
        "{right} of {} held-out images right: accuracy {accuracy:.2} %",
        labels.len()
    );
    Ok(accuracy >= 95.0)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = match (arguments.next(), arguments.next()) {
        (None, _) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/digits"),
        (Some(folder), None) if !folder.to_string_lossy().starts_with('-') => PathBuf::from(folder),
        _ => {
            eprintln!("usage: classify_digits [FOLDER]   (default: the checkout's examples/digits)");
            return ExitCode::from(2);
        }
    };
    match classify(&folder) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("classify_digits: {error}");
            ExitCode::FAILURE
        }
    }
}
