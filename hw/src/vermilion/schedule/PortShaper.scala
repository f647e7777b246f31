package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** Between an egress's scheduler and its port's shaper. */
class PortShaperPort extends Bundle {
  val charge = Input(Bool()) // the packet that `PortShaper` sees in this clock
  val open = Output(Bool())
  val settled = Output(Bool())
  val due = Output(UInt(TimeBits.W))
}

/** Shapes the ports of all egresses: may a packet be sent in this clock? The virtual time is that of `DueTime`.
  *
  * A charge takes 4 clocks to be worked out, p1 multiply, p2 shift, p3 add, p4 compare; with eight egresses it waits in p3 for the cycle before a phase. With one or two egresses a packet of up to
  * `ShortBytes` is until then taken to cost as much as `ShortBytes`, and behind a longer one nothing may be sent. So nothing is ever sent too early, and short
  * packets may follow each other every clock, as soon as there is credit for what is under way. A burst of
  * `DueTime.latenessClocks` is enough for that at every rate: where a packet's time is shorter than the 5 clocks of a charge (6 with two egresses), `ShortBytes`
  * cost little against it. With four and eight egresses one packet is under way in the cycle before a phase, and its cost, which is known then, is compared with the credit.
  *
  * An egress is charged in the clocks of its `phase`, and in the clock before each of them is worked out whether its port is `open`; so one set of adders and compares serves all. With one
  * egress that is every clock, and `open` is worked out for both answers of whether a packet is charged in that clock, which is known last and
  * chooses. It goes by the credit of the clock before. `due` is the first ns at which it opens, valid when no charge is under way.
  * A configure starts afresh with the full burst and forgets what is under way. In the three clocks behind it nothing may be sent, with several egresses until the second phase, as it asks
  * what `ShortBytes` cost; in the clock of a configure nothing may be charged. Without a cost a port is always open.
  */
class PortShaper(p: LaneParams) extends Module {
  private val ShortBytes = 512

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Vec(p.egresses, Valid(new ShaperConfig)))
    val lenBytes = Input(UInt(PktLenBits.W)) // charged with an egress's `charge`
    val phase = Input(UInt(p.egresses.W)) // one hot: the egress whose phase it is, from the lowest to the highest
    val egresses = Vec(p.egresses, new PortShaperPort)
  })
  private val egresses = p.egresses
  private def each[T](of: Int => T): Seq[T] = Seq.tabulate(egresses)(of)
  private def bits(of: Int => Bool): UInt = VecInit(each(of)).asUInt
  // The egress whose phase is the next cycle: the shared adders work for it in this one.
  private def following(phase: UInt): UInt =
    if (egresses == 1) phase else phase(egresses - 2, 0) ## phase(egresses - 1)
  private val next = if (egresses == 1) 1.U(1.W) else following(io.phase)
  private def choose[T <: Data](egress: UInt, of: Seq[T]): T = if (egresses == 1) of.head else Mux1H(egress, of)
  private def ofNext(egress: UInt): Bool = (egress & next).orR

  private val configs = each(_ => RegInit(0.U.asTypeOf(new ShaperConfig)))
  private val nowClock = DueTime.clock(io.now)
  // What `ShortBytes` cost is asked in the clock of a configure, and known two clocks later.
  private val configures = bits(io.configure(_).valid)
  private val asked = Seq.iterate(configures, 4)(RegNext(_, 0.U(egresses.W)))
  private val knows = RegInit(Fill(egresses, 1.U(1.W)))
  private val knowsNext = knows | (asked(3) & ~(asked(1) | asked(2)))
  knows := knowsNext & ~configures
  private val restarts = RegInit(0.U(egresses.W)) // `due` is as before the configure
  restarts := configures | (restarts & ~next)

  // ---- the charge
  private val shaped = bits(configs(_).costMant =/= 0.U)
  private val charges = bits(io.egresses(_).charge) & shaped
  private val short = io.lenBytes <= ShortBytes.U
  // Whose packet is in p1 to p4. The last but one is the cycle before a phase of its egress.
  private val stages = Seq.fill(egresses.max(4))(RegInit(0.U(egresses.W)))
  for ((from, to) <- (charges +: stages.init).zip(stages)) to := from & ~configures
  private val under = stages.init
  private val adds = ofNext(under.last)
  private val isExact = egresses >= 4 // no other packet of the egress is under way then, and what it costs is known
  private val cost = Module(new PacketCost)
  private val asks = configures.orR
  cost.io.enable := true.B
  cost.io.request.lenBytes := Delay(Mux(asks, ShortBytes.U(PktLenBits.W), io.lenBytes))
  private val p1Config = choose(stages.head | asked(1), configs)
  cost.io.request.costMant := p1Config.costMant
  cost.io.request.costShift := p1Config.costShift
  assert(PopCount(configures) <= 1.U, "two ports are configured in one clock")
  assert(!(asks && charges.orR), "a charge comes in the clock of a configure")
  private val shortCostBits = log2Ceil(ShortBytes) + CostMantBits + ShaperFrac
  private val shortCosts = each { e =>
    RegEnable(Arithmetic.wrap(cost.io.answer.cost, shortCostBits), asked(2)(e))
  }
  private val added = Delay(cost.io.answer, egresses.max(4) - 3)
  private val addedShift = Delay(p1Config.costShift, egresses.max(4) - 2)

  // ---- one egress: its debt, and with what is charged
  private val config = choose(next, configs)
  private val dues = each(_ => RegInit(0.U.asTypeOf(new DueTime)))
  // Of several it is chosen a clock ahead: only that of `next` changes in this clock.
  private val due = if (egresses == 1) dues.head else RegNext(choose(following(next), dues), 0.U.asTypeOf(new DueTime))
  assert(due.asUInt === choose(next, dues).asUInt, "another egress is worked out than has the next phase")
  private val shortCost = choose(next, shortCosts)
  private val burst = DueTime.clock40(config.burst)
  private val age = nowClock - due.next
  private val ahead = age(DueTime.ClockBits - 1)
  private val tooOld = Arithmetic.less(burst, age)
  // Of each base that DueTime may choose there is a sum; what is known last chooses between them.
  private val floor = DueTime.clock(Arithmetic.wrap(io.now - config.burst, TimeBits))
  private val fromFloor = added.cost + floor
  private val fromOthers = Mux(ahead, added.cost + nowClock, added.cost + due.next)
  private val charged = DueTime.after(
    Mux(tooOld && !ahead, fromFloor, fromOthers),
    added.magnitude.costBits(addedShift)
  )
  private val restarted = DueTime.after(floor, 0.U)
  private val restartsNow = ofNext(restarts)
  for (e <- 0 until egresses) when(next(e) && (adds || restartsNow)) {
    dues(e) := Mux(restartsNow, restarted, charged)
  }

  // ---- what is under way in the next clock, but for what this one charges
  private val pShort = Seq.iterate(Delay(short), under.size)(Delay(_))
  private val shorts = VecInit(under.zip(pShort).map { case (egress, short) => ofNext(egress) && short }).asUInt
  private val long = under.zip(pShort).map { case (egress, short) => ofNext(egress) && !short }.reduce(_ || _)
  private val count = PopCount(shorts)

  // ---- credit
  // For each number of short ones that may be under way, and chosen then. Three are not as soon as the cost of one is known.
  private val thrice = Delay(shortCost +& (shortCost << 1)) // with one egress
  private val reserves =
    if (isExact) Seq(added.cost) else Seq(shortCost, shortCost << 1, thrice, shortCost << 2).take(4 / egresses)
  private val covered = reserves.map { reserve => // the lesser of both counts
    val (ofBurst, ofAge) = (burst >= reserve, age >= reserve)
    !ahead && ((tooOld && ofBurst) || (!tooOld && ofAge))
  }
  private def covers(number: Int => Bool): Bool =
    covered.zipWithIndex.map { case (enough, i) => number(i + 1) && enough }.reduce(_ || _)
  private val anyUnder = under.map(ofNext).reduce(_ || _)
  private val coversUnder = if (isExact) covered.head else !long && covers(count === _.U)
  private val openUncharged = Mux(anyUnder, coversUnder, due.paid(io.now))
  private val openCharged = covers(number => count === (number - 1).U) && short && !long
  private val isCharged = if (egresses == 1) io.egresses.head.charge else false.B
  private val openNext = !ofNext(shaped) ||
    (ofNext(knowsNext & ~restarts) && Mux(isCharged, openCharged, openUncharged))
  for (e <- 0 until egresses) {
    val open = RegInit(true.B)
    when(io.configure(e).valid) { open := io.configure(e).bits.costMant === 0.U }
      .elsewhen(next(e)) { open := openNext }
    io.egresses(e).open := open
    io.egresses(e).settled := !VecInit(stages.map(_(e))).asUInt.orR && knows(e) && !restarts(e) && !RegNext(
      restarts(e),
      false.B
    )
    io.egresses(e).due := Delay(dues(e).wholeNs)
    when(io.configure(e).valid) { configs(e) := io.configure(e).bits }
  }
}
