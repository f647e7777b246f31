package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** Ports between an egress's scheduler and the shaper of its port. */
class PortShaperPort extends Bundle {
  val charge = Input(Bool()) // charges the packet that `PortShaper` sees in this cycle
  val open = Output(Bool())
  val settled = Output(Bool())
  val due = Output(UInt(TimeBits.W))
  val shaped = Output(Bool()) // it has a rate
}

/** Shapes the ports of all egresses: it tells whether a packet may be sent in this cycle.
  *
  * The virtual time is that of `DueTime`.
  *
  * A charge takes 4 cycles: p1 multiplies, p2 shifts, p3 adds, p4 compares. With eight egresses the charge waits in p3 for the cycle before a phase.
  * With one or two egresses, a packet of up to `ShortBytes` counts as `ShortBytes` until its cost is known. After a longer packet nothing may be sent.
  * So no packet is sent too early, and short packets may follow each other in every cycle while there is credit for the pending charges.
  * A burst of `DueTime.latenessCycles` is enough for that at every rate. If a packet takes less time than the 5 cycles of a charge
  * (6 with two egresses), the cost of `ShortBytes` is small against the burst.
  * With four and eight egresses one charge is pending in the cycle before a phase. Its cost is known then and is compared with the credit.
  *
  * An egress is charged in the cycles of its `phase`. The cycle before each of them computes whether its port is `open`.
  * So one set of adders and comparators serves all egresses. With one egress that is every cycle.
  * Whether a packet is charged is known last there, so `open` is computed for both cases and then selected. `open` uses the credit of the cycle before.
  * `due` is the first ns at which the port opens. It is valid when no charge is pending.
  *
  * In builds with `codel` a verdict may drop the packet in p4. `due` returns to what it was before its charge, with eight egresses before the charge is
  * added to it. Until the verdict the port is closed as for a packet that is sent. `open` knows of the drop late: with one egress two cycles after it,
  * with four not in the phase in which it comes. The rate of the port is not affected.
  *
  * A configure restarts with the full burst and discards the pending charges. In the three cycles after it nothing may be sent, with several egresses
  * until the second phase: the shaper computes the cost of `ShortBytes`. In the cycle of a configure nothing may be charged.
  * A port without a cost is always open.
  */
class PortShaper(p: LaneParams) extends Module {
  private val ShortBytes = 512

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Vec(p.egresses, Valid(new ShaperConfig)))
    val lenBytes = Input(UInt(PktLenBits.W)) // of the packet that an egress's `charge` charges
    val dropped =
      Option.when(p.codel)(Input(Vec(p.egresses, Bool()))) // the packet that was taken 4 cycles before is not sent
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
  // The cost of `ShortBytes` is requested in the cycle of a configure, and known two cycles later.
  private val configures = bits(io.configure(_).valid)
  private val asked = Seq.iterate(configures, 4)(RegNext(_, 0.U(egresses.W)))
  private val knows = RegInit(Fill(egresses, 1.U(1.W)))
  private val knowsNext = knows | (asked(3) & ~(asked(1) | asked(2)))
  knows := knowsNext & ~configures
  private val restarts = RegInit(0.U(egresses.W)) // `due` is still that from before the configure
  restarts := configures | (restarts & ~next)

  // ---- the charge
  private val shaped = bits(configs(_).costMant =/= 0.U)
  private val charges = bits(io.egresses(_).charge) & shaped
  private val short = io.lenBytes <= ShortBytes.U
  // The egress of the packet in p1 to p4. The last but one stage is the cycle before a phase of its egress.
  private val stages = Seq.fill(egresses.max(4))(RegInit(0.U(egresses.W)))
  private val dropped = io.dropped.map(_.asUInt).getOrElse(0.U(egresses.W))
  for (((from, to), i) <- (charges +: stages.init).zip(stages).zipWithIndex)
    to := from & ~configures & (if (i == 4) ~dropped else Fill(egresses, 1.U(1.W)))
  private val under = stages.init
  private val adds = ofNext(under.last)
  private val isExact = egresses >= 4 // the only pending charge of the egress, and its cost is known
  private val cost = Module(new PacketCost)
  private val asks = configures.orR
  cost.io.enable := true.B
  cost.io.request.lenBytes := Delay(Mux(asks, ShortBytes.U(PktLenBits.W), io.lenBytes))
  private val p1Config = choose(stages.head | asked(1), configs)
  cost.io.request.costMant := p1Config.costMant
  cost.io.request.costShift := p1Config.costShift
  assert(PopCount(configures) <= 1.U, "two ports are configured in one cycle")
  assert(!(asks && charges.orR), "a shaper is charged in the cycle in which one is configured")
  private val shortCostBits = log2Ceil(ShortBytes) + CostMantBits + ShaperFrac
  private val shortCosts = each { e =>
    RegEnable(Arithmetic.wrap(cost.io.answer.cost, shortCostBits), asked(2)(e))
  }
  private val added = Delay(cost.io.answer, egresses.max(4) - 3)
  private val addedShift = Delay(p1Config.costShift, egresses.max(4) - 2)

  // ---- one egress: its debt now, and after the charge
  private val config = choose(next, configs)
  private val dues = each(_ => RegInit(0.U.asTypeOf(new DueTime)))
  // With several egresses the due time is selected one cycle early: only that of `next` changes in this cycle.
  private val restores = if (egresses > 4) 0.U(egresses.W) else dropped & stages(3)
  private val saved = Reg(new DueTime) // that of the packet in p4, before its charge
  private val kept = each(e => Mux(restores(e), saved, dues(e)))
  private val due = if (egresses == 1) kept.head else RegNext(choose(following(next), kept), 0.U.asTypeOf(new DueTime))
  saved := due
  assert(due.asUInt === choose(next, kept).asUInt, "another egress is worked out than has the next phase")
  private val shortCost = choose(next, shortCosts)
  private val burst = DueTime.clock40(config.burst)
  private class Age(due: DueTime) {
    val time: UInt = nowClock - due.next
    val ahead: Bool = time(DueTime.ClockBits - 1)
    // Where the difference of 65 bits is used only once, Verilator 5.48.0 does not clear the bits above it, and an AND with `!ahead` takes them.
    val tooOld: Bool = if (p.codel) burst < time else Arithmetic.less(burst, time)
  }
  private val age = new Age(due)
  // The due time before a restore: whether a packet was dropped is known too late for the comparisons of a single egress.
  private val (dueBefore, ageBefore) = if (p.codel && egresses == 1) (dues.head, new Age(dues.head)) else (due, age)
  // There is a sum for each base that DueTime may choose. The signal that is known last selects one.
  private val floor = DueTime.clock(Arithmetic.wrap(io.now - config.burst, TimeBits))
  private val fromFloor = added.cost + floor
  private val fromOthers = Mux(age.ahead, added.cost + nowClock, added.cost + due.next)
  private val charged = DueTime.after(
    Mux(age.tooOld && !age.ahead, fromFloor, fromOthers),
    added.magnitude.costBits(addedShift)
  )
  private val restarted = DueTime.after(floor, 0.U)
  private val restartsNow = ofNext(restarts)
  for (e <- 0 until egresses) {
    when(restores(e)) { dues(e) := saved }
    when(next(e) && (adds || restartsNow)) { dues(e) := Mux(restartsNow, restarted, charged) }
  }

  // ---- charges that are pending in the next cycle, without the one of this cycle
  private val pShort = Seq.iterate(Delay(short), under.size)(Delay(_))
  private val shorts = VecInit(under.zip(pShort).map { case (egress, short) => ofNext(egress) && short }).asUInt
  private val long = under.zip(pShort).map { case (egress, short) => ofNext(egress) && !short }.reduce(_ || _)
  private val count = PopCount(shorts)

  // ---- credit
  // Compared for each number of pending short packets, then selected. Three cannot be pending in the first cycle in which the
  // cost of one is known, so `thrice` may be a cycle late.
  private val thrice = Delay(shortCost +& (shortCost << 1)) // with one egress
  private val reserves =
    if (isExact) Seq(added.cost) else Seq(shortCost, shortCost << 1, thrice, shortCost << 2).take(4 / egresses)
  private val covered = reserves.map { reserve => // the credit is the lesser of burst and age
    val (ofBurst, ofAge) = (burst >= reserve, ageBefore.time >= reserve)
    !ageBefore.ahead && ((ageBefore.tooOld && ofBurst) || (!ageBefore.tooOld && ofAge))
  }
  private def covers(number: Int => Bool): Bool =
    covered.zipWithIndex.map { case (enough, i) => number(i + 1) && enough }.reduce(_ || _)
  private val anyUnder = under.map(ofNext).reduce(_ || _)
  private val coversUnder = if (isExact) covered.head else !long && covers(count === _.U)
  private val openUncharged = Mux(anyUnder, coversUnder, dueBefore.paid(io.now))
  private val openCharged = covers(number => count === (number - 1).U) && short && !long
  private val isCharged = if (egresses == 1) io.egresses.head.charge else false.B
  private val openNext = !ofNext(shaped) ||
    (ofNext(knowsNext & ~restarts) && Mux(isCharged, openCharged, openUncharged))
  for (e <- 0 until egresses) {
    val open = RegInit(true.B)
    when(io.configure(e).valid) { open := io.configure(e).bits.costMant === 0.U }
      .elsewhen(next(e)) { open := openNext }
    io.egresses(e).open := open
    val pending = VecInit(stages.map(_(e))).asUInt.orR
    val restoring = if (p.codel) RegNext(pending, false.B) else false.B
    io.egresses(e).settled := !pending && !restoring && knows(e) && !restarts(e) && !RegNext(
      restarts(e),
      false.B
    )
    io.egresses(e).due := Delay(dues(e).wholeNs)
    io.egresses(e).shaped := shaped(e)
    when(io.configure(e).valid) { configs(e) := io.configure(e).bits }
  }
}
