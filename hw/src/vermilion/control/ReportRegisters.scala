package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.control.{RegisterMap => R}
import vermilion.report.ReportPorts

/** Gives a lane the settings of its reports.
  *
  * @param stored the value of a register
  * @param after  high one cycle after a write to an address
  * @param exists whether the build has a queue
  */
class ReportRegisters(stored: (R.Register, Seq[Int]) => UInt, after: Int => Bool, exists: UInt => Bool) {

  /** Connects the ports. Returns whether a queue is selected that the build lacks. */
  def apply(ports: ReportPorts): Bool = {
    val settings = ports.settings
    settings.every := stored(R.ReportEvery, Nil)(settings.every.getWidth - 1, 0)
    settings.interval := stored(R.ReportInterval, Nil)
    settings.burst := stored(R.ReportBurst, Nil)
    val bytes = VecInit(Seq.tabulate(4)(i => stored(R.ReportEthernet, Seq(i)))).asTypeOf(Vec(16, UInt(8.W)))
    settings.ethernet := Cat(bytes.take(14))

    val select = stored(R.ReportSelect, Nil)
    val queue = R.ReportSelect.queue(select)
    ports.select.valid := after(R.ReportSelect()) && exists(queue)
    ports.select.bits.queue := queue(ports.select.bits.queue.getWidth - 1, 0)
    ports.select.bits.reasons := R.ReportSelect.reasons(select)
    after(R.ReportSelect()) && !exists(queue)
  }
}
