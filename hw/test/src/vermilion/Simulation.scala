package vermilion

import chisel3.simulator.FirtoolOptionsModifications
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.TestSuite
import vermilion.lane.EmitOptions

/** ChiselSim, but firtool does not check its own data after each pass ([[vermilion.lane.EmitOptions]]). */
trait Simulation extends ChiselSim { this: TestSuite =>
  implicit override def firtoolOptionsModifications: FirtoolOptionsModifications = {
    val others = super.firtoolOptionsModifications
    options => others(options) :+ EmitOptions.unchecked
  }
}
