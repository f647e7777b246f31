package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats.TimeBits

/** Generates the time of all lanes, in whole ns of 48 bits.
  *
  * The source is a counter of this clock's periods, which starts at 0 after a reset, or the NIC's PTP clock in builds with `ptpTime`.
  * The counter is exact for a period of `num` / `denom` ns. It adds the whole ns in each cycle, and one more when the sum
  * of the fractions reaches one. A change of `usePtp` makes the time jump. Lanes tolerate this (docs/architecture.md,
  * "Times"). The counter runs with either source.
  *
  * Latency: `now` is `ptp` of one cycle before.
  */
class AppClock(num: Int, denom: Int, ptpTime: Boolean) extends Module {
  require(num >= 1 && num <= 65535, s"num is $num; legal are 1 to 65535")
  require(denom >= 1 && denom <= 65535, s"denom is $denom; legal are 1 to 65535")
  val io = IO(new Bundle {
    val ptp = Input(UInt(64.W)) // 48 bits of ns, 16 bits of fraction
    val usePtp = Input(Bool())
    val now = Output(UInt(TimeBits.W))
  })
  private val counter = RegInit(0.U(TimeBits.W))
  private val whole = num / denom
  private val rest = num % denom
  if (rest == 0) counter := counter + whole.U
  else {
    val fraction = RegInit(0.U(log2Ceil(denom).W)) // of a ns, in parts of `denom`
    val sum = fraction +& rest.U
    val carries = sum >= denom.U
    fraction := Mux(carries, sum - denom.U, sum)(log2Ceil(denom) - 1, 0)
    counter := counter + whole.U + carries
  }
  private val time = if (ptpTime) Mux(io.usePtp, io.ptp(63, 64 - TimeBits), counter) else counter
  io.now := RegNext(time, 0.U)
}
