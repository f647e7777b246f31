package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.fixed.Formats._

/** Shapes the port: may a packet be sent in this clock? The virtual time is that of `DueTime`.
  *
  * A charge takes 4 clocks to be worked out, p1 multiply, p2 shift, p3 add, p4 compare. Until then a packet of up to `ShortBytes` is
  * taken to cost as much as `ShortBytes`, and behind a longer one nothing may be sent. So nothing is ever sent too early, and short
  * packets may follow each other every clock, as soon as there is credit for what is under way. A burst of
  * `DueTime.latenessClocks` is enough for that at every rate: where a packet's time is shorter than the 5 clocks of a charge, `ShortBytes`
  * cost little against it.
  *
  * `open` is a register: worked out a clock before, for both answers of whether a packet is charged in that clock, which is known last and
  * chooses. So it goes by the credit of the clock before. `due` is the first ns at which it opens, valid when no charge is under way.
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
  private val knowsNext = knows || learning === 4.U // without a configure
  knows := knowsNext && !io.configure.valid

  // ---- the charge
  private val charging = io.charge.valid && shaped
  private val short = io.charge.bits <= ShortBytes.U
  private val p = Seq.fill(4)(RegInit(false.B))
  p.head := charging
  p.zip(p.tail).foreach { case (before, after) => after := before }
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
  private val tooOld = Arithmetic.less(burst, age)
  // Of the bases that DueTime may choose, two are chosen from early; what is known last chooses between sums.
  private val floor = DueTime.clock(Arithmetic.wrap(io.now - config.burstNs, TimeBits))
  private val fromFloor = p3Cost + floor
  private val fromOthers = p3Cost + Mux(ahead, nowClock, due.next)
  private val charged = Mux(tooOld && !ahead, fromFloor, fromOthers)
  when(p(2)) { due := DueTime.after(charged, p3Magnitude.costBits(config.costShift)) }
  when(learning(0)) { due := DueTime.after(floor, 0.U) }

  // ---- what is under way in the next clock, but for what this one charges
  private val under = p.init
  private val pShort = Seq.iterate(Delay(short), under.size)(Delay(_))
  private val shorts = VecInit(under.zip(pShort).map { case (valid, short) => valid && short }).asUInt
  private val long = under.zip(pShort).map { case (valid, short) => valid && !short }.reduce(_ || _)
  private val count = PopCount(shorts)

  // ---- credit
  // For each number of short ones that may be under way, and chosen then. Three are not as soon as the cost of one is known.
  private val thrice = Delay(shortCost +& (shortCost << 1))
  private val reserves = Seq(shortCost, shortCost << 1, thrice, shortCost << 2)
  private val covered = reserves.map { reserve => // the lesser of both counts
    val (ofBurst, ofAge) = (burst >= reserve, age >= reserve)
    !ahead && ((tooOld && ofBurst) || (!tooOld && ofAge))
  }
  private def covers(number: Int => Bool): Bool =
    covered.zipWithIndex.map { case (enough, i) => number(i + 1) && enough }.reduce(_ || _)
  private val openUncharged = Mux(under.reduce(_ || _), covers(count === _.U), due.paid(io.now))
  private val openCharged = covers(number => count === (number - 1).U) && short
  private val open = RegInit(true.B)
  open := Mux(
    io.configure.valid,
    io.configure.bits.costMant === 0.U,
    !shaped || (knowsNext && !long && Mux(io.charge.valid, openCharged, openUncharged))
  )
  io.open := open
  io.settled := !VecInit(p).asUInt.orR && knows
  io.due := Delay(due.wholeNs)

  when(io.configure.valid) {
    config := io.configure.bits
    p.foreach(_ := false.B)
  }
}
