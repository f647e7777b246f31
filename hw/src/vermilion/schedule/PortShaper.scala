package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.fixed.Formats._

/** Shapes the port: may a packet be sent in this clock? The virtual time is that of `DueTime`.
  *
  * A charge takes 4 clocks to be worked out, p1 multiply, p2 shift, p3 add, p4 compare. Until then a packet of up to `ShortBytes` is
  * taken to cost as much as `ShortBytes` (`reserve`), and behind a longer one nothing may be sent. So nothing is ever sent too early, and short
  * packets may follow each other every clock as soon as there is credit for what is under way. A burst of
  * `DueTime.latenessClocks` is enough for that at every rate: where a packet's time is shorter than the 5 clocks of a charge, `ShortBytes`
  * cost little against it.
  *
  * `open` is worked out from registers alone. `due` is the first ns at which it opens, valid when no charge is under way.
  * A configure starts afresh with the full burst and forgets what is under way. In the three clocks behind it nothing may be sent: the charge's
  * own multiplier and shifter find out what `ShortBytes` cost. Without a cost it is always open.
  */
class PortShaper extends Module {
  private val ShortBytes = 512

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new ShaperConfig))
    val charge = Flipped(Valid(UInt(PktLenBits.W))) // bytes
    val open = Output(Bool())
    val settled = Output(Bool())
    val due = Output(UInt(TimeBits.W))
  })

  private val config = RegInit(0.U.asTypeOf(new ShaperConfig))
  private val shaped = config.costMant =/= 0.U
  private val burst = DueTime.clock40(config.burstNs)
  private val nowClock = DueTime.clock(io.now)
  private val learning = RegInit(0.U(3.W)) // what `ShortBytes` cost: one hot, the clocks behind a configure
  private val knows = RegInit(true.B)
  private val shortCost = Reg(UInt((log2Ceil(ShortBytes) + CostMantBits + ShaperFrac).W))
  learning := Cat(learning(1, 0), io.configure.valid)
  when(learning === 4.U) { knows := true.B }
  when(io.configure.valid) { knows := false.B }

  // ---- the charge
  private val charging = io.charge.valid && shaped
  private val short = io.charge.bits <= ShortBytes.U
  private val p = Seq.fill(4)(RegInit(false.B))
  p.head := charging
  p.zip(p.tail).foreach { case (before, after) => after := before }
  private val p4Short = Delay(short, 4)
  private val p1Len = Delay(Mux(learning(0), ShortBytes.U(PktLenBits.W), io.charge.bits))
  private val p2Product = Delay(p1Len * config.costMant)
  private val p2Cost = ((p2Product << ShaperFrac) >> config.costShift).asUInt
  private val p3Cost = Delay(p2Cost)
  when(learning(2)) { shortCost := Arithmetic.wrap(p2Cost, shortCost.getWidth) }
  // Not a difference: firtool 1.155 narrows one of two padded numbers and forgets its sign.
  private val lessBurst = Delay(Arithmetic.wrap(~burst + 1.U, DueTime.ClockBits))
  private val p3CostLess = Delay(Arithmetic.wrap(p2Cost + lessBurst, DueTime.ClockBits))
  private val p3Magnitude = Delay(CostMagnitude(p2Product))
  private val due = RegInit(0.U.asTypeOf(new DueTime))
  // The sum of each base that DueTime may choose is formed beside the choice.
  private val age = nowClock - due.next
  private val ahead = age(DueTime.ClockBits - 1)
  private val tooOld = age > burst
  private val charged = Mux(ahead, nowClock + p3Cost, Mux(tooOld, nowClock + p3CostLess, due.next + p3Cost))
  when(p(2)) { due := DueTime.after(charged, p3Magnitude.costBits(config.costShift)) }

  // ---- what is under way
  private val reserve = RegInit(0.U((shortCost.getWidth + 3).W))
  private val longs = RegInit(0.U(3.W))
  // What is settled is known early, who is charged late: so that is chosen last.
  private val reserveLess = Arithmetic.wrap(reserve - Mux(p(3) && p4Short, shortCost, 0.U), reserve.getWidth)
  private val reserveMore = Arithmetic.wrap(reserveLess + shortCost, reserve.getWidth)
  private val longsLess = longs - (p(3) && !p4Short)
  reserve := Mux(charging && short, reserveMore, reserveLess)
  longs := Mux(charging && !short, longsLess + 1.U, longsLess)
  private val underWay = VecInit(p).asUInt.orR

  // ---- credit, as of the clock before
  private val behind = Delay(!ahead)
  private val credit = Delay(Mux(tooOld, burst, age))
  private val paid = Delay(due.paid(io.now))
  io.open := !shaped || (knows && longs === 0.U && Mux(underWay, behind && credit >= reserve, paid))
  io.settled := !underWay && knows
  io.due := Delay(due.wholeNs)

  when(io.configure.valid) {
    config := io.configure.bits
    due.next := nowClock - DueTime.clock40(io.configure.bits.burstNs)
    due.debtBits := 0.U
    p.foreach(_ := false.B)
    reserve := 0.U
    longs := 0.U
  }
}
