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
  * A configure starts afresh with the full burst and forgets what is under way. In the three clocks behind it nothing may be sent: it asks
  * what `ShortBytes` cost, twice, as a queue may be charged meanwhile. Without a cost it is always open.
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
    val cost = Output(new CostRequest) // to `PacketCost`
    val answer = Input(new CostAnswer)
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
  private val asks = io.configure.valid || learning(0)
  io.cost.lenBytes := Delay(Mux(asks, ShortBytes.U(PktLenBits.W), io.charge.bits))
  io.cost.costMant := config.costMant
  io.cost.costShift := config.costShift
  private val p3Cost = Delay(io.answer.cost)
  private val p3Magnitude = Delay(io.answer.magnitude)
  when((learning(1) || learning(2)) && !io.answer.ofQueue) {
    shortCost := Arithmetic.wrap(io.answer.cost, shortCost.getWidth)
  }
  assert(!(p(1) && io.answer.ofQueue), "charges of the port and of a queue want the multiplier in the same clock")
  private val due = RegInit(0.U.asTypeOf(new DueTime))
  private val age = nowClock - due.next
  private val ahead = age(DueTime.ClockBits - 1)
  private val tooOld = age > burst
  // Of the bases that DueTime may choose, two are chosen from early; what is known last chooses between sums.
  private val floor = DueTime.clock(Arithmetic.wrap(io.now - config.burstNs, TimeBits))
  private val fromFloor = p3Cost + floor
  private val fromOthers = p3Cost + Mux(ahead, nowClock, due.next)
  private val charged = Mux(tooOld && !ahead, fromFloor, fromOthers)
  when(p(2)) { due := DueTime.after(charged, p3Magnitude.costBits(config.costShift)) }
  when(learning(0)) { due := DueTime.after(floor, 0.U) }

  // ---- what is under way
  private val reserve = RegInit(0.U((shortCost.getWidth + 3).W))
  private val longs = RegInit(0.U(3.W))
  // Who is charged is known late, what is settled early: that says whether one adder adds or subtracts, both whether it is asked.
  private val reserves = charging && short
  private val settles = p(3) && p4Short
  private val change = shortCost.pad(reserve.getWidth) ^ Fill(reserve.getWidth, settles)
  when(reserves =/= settles) { reserve := ((reserve ## settles) + (change ## settles)) >> 1 }
  private val longsLess = longs - (p(3) && !p4Short)
  longs := Mux(charging && !short, longsLess + 1.U, longsLess)
  private val underWay = VecInit(p).asUInt.orR

  // ---- credit, as of the clock before
  private val behind = Delay(!ahead)
  private val ageBefore = Delay(age)
  private val full = Delay(tooOld)
  private val credited = Mux(full, burst >= reserve, ageBefore >= reserve) // the lesser of both counts
  private val paid = Delay(due.paid(io.now))
  io.open := !shaped || (knows && longs === 0.U && Mux(underWay, behind && credited, paid))
  io.settled := !underWay && knows
  io.due := Delay(due.wholeNs)

  when(io.configure.valid) {
    config := io.configure.bits
    p.foreach(_ := false.B)
    reserve := 0.U
    longs := 0.U
  }
}
