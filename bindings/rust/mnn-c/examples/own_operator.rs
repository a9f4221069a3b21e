//! An operator of the program's own: shrink.mnn has a node `SoftShrink`, which the library does not know.
//!
//!     cargo run --example own_operator

use mnn_c::{Format, HostTensor, HostTensorMut, Interpreter, Node, Operator, ScheduleConfig};

/// x - lambd above lambd, x + lambd below -lambd, else 0.
struct SoftShrink;

impl Operator for SoftShrink {
    type State = f32; // lambd

    fn prepare(&self, node: &Node<'_>, _inputs: &[HostTensor<'_>]) -> mnn_c::Result<f32> {
        Ok(node.attribute("lambd")?.float())
    }

    fn compute(
        &self,
        lambd: &mut f32,
        _node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> mnn_c::Result<()> {
        let x = inputs[0].values::<f32>()?;
        for (y, x) in outputs[0].values_mut::<f32>()?.iter_mut().zip(x) {
            *y = x.signum() * (x.abs() - *lambd).max(0.0);
        }
        Ok(())
    }
}

fn main() -> mnn_c::Result<()> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../examples/own_operator/shrink.mnn"
    );
    let net = Interpreter::from_file(path)?;
    net.add_operator("SoftShrink", SoftShrink)?; // before the first session
    let mut session = net.create_session(&ScheduleConfig::new())?;
    let x: Vec<f32> = (0u8..12).map(|i| (f32::from(i) - 6.0) / 4.0).collect();
    session.input_mut("x")?.write(&x, Format::Nchw)?;
    session.run()?;
    let y = session.output("y")?.read::<f32>(Format::Nchw)?;
    for (x, y) in x.iter().zip(y) {
        println!("{x} -> {y}");
    }
    Ok(())
}
