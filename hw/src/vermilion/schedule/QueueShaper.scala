package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.departure.DepartureVerdicts
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** Ports between one egress's scheduler and the shaper of its queues. They name queues by their numbers in that egress. */
class QueueShaperPort(p: LaneParams) extends Bundle {
  val charge = Input(Bool()) // charges the packet that `QueueShaper` sees in this cycle
  val charging = Output(Bool())
  val chargingNext = Output(Bool()) // in the next cycle
  val holdsFirst = Input(Bool()) // the charged queue may go on sending
  val blocks = Output(Bool()) // the charged queue must not send: it waits to be parked
  val parks = Input(Bool()) // it is parked in this cycle
  val parkNext = Input(UInt(p.queueBits.W)) // the queue that `park` parks in the next cycle
  val park = Input(Bool())
  val mayBeDue = Input(Bool()) // with `park`: it has not been charged just now
  val mayRelease = Input(Bool())
  val scanned = Output(UInt(p.queueBits.W))
  val released = Valid(UInt(p.queueBits.W))
  val anyParked = Output(Bool())
  val earliest = Valid(UInt(TimeBits.W))
}

/** Shapes the queues of all egresses by virtual time, and parks the queues that must wait.
  *
  * Each queue has the virtual time of `DueTime`. A parked queue is in no list of its scheduler.
  *
  * An egress has at most one charge in progress. The charges of several egresses follow each other in one pipeline, as one packet is taken per
  * cycle. Its stages: s1 operands and product, s2 shift and floor, s3 compare and base, s4 sum and write. A record that was read earlier is
  * valid up to s5. The charge ends in s3 if the queue may send on at once, or does not want to (`holdsFirst` low).
  * Otherwise it `blocks` from the next cycle until `parks`. So the next choice can be made 4 cycles after a choice.
  * s4 waits one cycle for a `configure`, and all stages upstream wait with it. Nothing may be charged in that cycle.
  *
  * A scan reads the queues one after the other, parked or not, in the cycles of their egress's `phase` (q0 address, q1 read, q2 compare).
  * It goes from 0 to the highest queue that was ever configured, and covers at least two queues. It runs while `mayRelease`. If no queue was parked before, it
  * starts at 0. With several egresses the queue that became backlogged last is scanned in place of one that is not parked.
  * A queue that is due leaves with `released`. If nothing else delays it, it is late by at most the number of scanned queues times the egresses, plus 4 cycles.
  * `scanned` names it two cycles before. The scan skips a queue whose charge is in progress.
  *
  * `earliest` is the least due time of an egress's parked queues, in whole ns rounded up. It is valid after one whole scan without a change.
  *
  * RAMs: `configs`, queues x 64 b, 1W 1R; `dues`, queues x 71 b, 1W (configure, else charge) 2R by two copies (charge, scan); for each egress `parked`
  * and `freed`, its queues x 1 b, that differ while parked, each with one writer. No register per queue. After reset all are cleared in `queues` cycles.
  * A charge whose packet is `dropped` is not written, and blocks nothing. That is known in s4.
  *
  * A configure restarts the queue with its full burst. A charge of that queue that is in progress is not written.
  * If that charge is not compared yet, it blocks nothing.
  * A queue that is configured while it blocks is parked, and its next scan releases it.
  */
class QueueShaper(p: LaneParams) extends Module {
  private val one = p.ofOneEgress
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new QueueService(p)))
    val queue = Input(UInt(p.queueBits.W)) // charged by an egress's `charge`
    val lenBytes = Input(UInt(PktLenBits.W))
    val phase = Input(UInt(p.egresses.W)) // one hot: the egress whose phase it is, from the lowest to the highest
    val flush = Input(new FlushSettings(p)) // these queues are released, due or not
    val dropped =
      Option.when(p.codel)(Input(Vec(p.egresses, Bool()))) // the packet that was taken 4 cycles before is not sent
    val egresses = Vec(p.egresses, new QueueShaperPort(one))
  })
  private def each[T](of: Int => T): Seq[T] = Seq.tabulate(p.egresses)(of)
  private def bits(of: Int => Bool): UInt = VecInit(each(of)).asUInt
  private def choose[T <: Data](egress: UInt, of: Seq[T]): T = if (p.egresses == 1) of.head else Mux1H(egress, of)

  /** A queue's number within its egress; `global` gives the number among all queues. */
  private def local(queue: UInt): UInt = queue(one.queueBits - 1, 0)
  private def global(egress: UInt, queue: UInt): UInt =
    if (p.egresses == 1) queue else OHToUInt(egress)(p.egressBits - 1, 0) ## queue
  private def isOf(egress: Int, queue: UInt): Bool =
    if (p.egresses == 1) true.B else queue(p.queueBits - 1, one.queueBits) === egress.U

  private class Record extends Bundle {
    val stamped = Bool() // charged since it was configured
    val due = new DueTime
  }
  private val configs = new ForwardingRam(p.queues, new ShaperConfig)
  private val dues = new ForwardingRam(p.queues, new Record)
  private val parked, freed = each(_ => new ForwardingRam(one.queues, Bool()))
  private val sweep = new SweepInit(p.queues)
  private val nowClock = DueTime.clock(io.now)

  // ---- charge
  private val charges = bits(io.egresses(_).charge)
  private val stages = Seq.fill(5)(RegInit(0.U(p.egresses.W))) // the egress of the packet in s1 to s5
  private val Seq(_, _, s3, s4, s5) = stages
  private val hold = s4.orR && io.configure.valid
  private def step[T <: Data](x: T): T = {
    val next = Reg(chiselTypeOf(x))
    when(!hold) { next := x }
    next
  }
  when(!hold) { for ((from, to) <- (charges +: stages.init).zip(stages)) to := from }.otherwise { s5 := 0.U }
  assert(!io.configure.valid || !charges.orR, "a shaper is charged in the cycle in which one is configured")

  private val charged = each(e => RegEnable(local(io.queue), io.egresses(e).charge))
  private val s1Len = step(io.lenBytes)
  private val s1Queue = step(io.queue)
  private val s0Queue = Mux(hold, s1Queue, io.queue)
  private val s1Config = configs.read(s0Queue)
  private val s1Record = dues.read(s0Queue)
  private val cost = Module(new PacketCost)
  cost.io.enable := !hold
  cost.io.request.lenBytes := s1Len
  cost.io.request.costMant := s1Config.costMant
  cost.io.request.costShift := s1Config.costShift
  private val s2Config = step(s1Config)
  private val s2Record = step(s1Record)
  private val s2Burst = DueTime.clock40(s2Config.burst)
  private val s2Age = nowClock - s2Record.due.next
  private val s2Ahead = s2Age(DueTime.ClockBits - 1)
  private val s3Cost = step(cost.io.answer.cost)
  private val s3DebtBits = step(cost.io.answer.magnitude.costBits(s2Config.costShift))
  private val s3Floor = step(Arithmetic.wrap(io.now - s2Config.burst, TimeBits))
  private val s3Now = step(io.now)
  private val s3Next = step(s2Record.due.next)
  private val s3UseFloor = step(!s2Record.stamped || (!s2Ahead && s2Age > s2Burst))
  private val s3UseNow = step(s2Ahead)
  // The cost is paid if the time since `next` and the burst both cover it. A queue that was never charged has the whole burst.
  private val s3Age = step(Mux(s2Record.stamped, Mux(s2Ahead, 0.U, s2Age), Fill(DueTime.ClockBits, 1.U(1.W))))
  private val s3Burst = step(s2Config.burst)
  private def s3Covered(time: UInt) = !Arithmetic.less(time, s3Cost.pad(time.getWidth))
  private val s3Paid = s3Covered(s3Age) && s3Covered(s3Burst ## 0.U(ShaperFrac.W))
  private val s4Base = step(Mux(s3UseFloor, DueTime.clock(s3Floor), Mux(s3UseNow, DueTime.clock(s3Now), s3Next)))
  private val s4Cost = step(s3Cost)
  private val s4DebtBits = step(s3DebtBits)
  private val s4Queue = step(step(step(s1Queue)))
  private val s5Queue = step(s4Queue)
  private val s4Due = DueTime.after(s4Cost + s4Base, s4DebtBits)
  // The charged queue was configured during its charge.
  private val renewed = RegInit(0.U(p.egresses.W))
  private val renews = bits { e =>
    io.configure.valid && isOf(e, io.configure.bits.queue) && local(io.configure.bits.queue) === charged(e)
  }
  renewed := renews | (renewed & ~charges)
  // The charges whose packet is dropped: in this cycle, and since its charge. If a `configure` delays a charge, this is known before s4.
  private val (cancels, isVoid) = io.dropped match {
    case None => (0.U(p.egresses.W), 0.U(p.egresses.W))
    case Some(dropped) =>
      val judged = ShiftRegister(charges, DepartureVerdicts.Latency + 1, 0.U(p.egresses.W), true.B)
      val now = dropped.asUInt & judged
      val cancelled = RegInit(0.U(p.egresses.W))
      cancelled := (now | cancelled) & ~charges
      (now, now | cancelled)
  }
  private val s4Writes = s4.orR && !io.configure.valid && !(s4 & (renewed | isVoid)).orR
  private val s3Ends = bits(e => s3Paid || !io.egresses(e).holdsFirst || renewed(e) || renews(e) || isVoid(e))
  private val ends = Mux(hold, 0.U, s3)
  private val blocked = RegInit(0.U(p.egresses.W))
  blocked := (ends & ~s3Ends) | (blocked & ~bits(io.egresses(_).parks) & ~cancels)
  private val charging = each { e =>
    val port = io.egresses(e)
    port.charging := RegNext(port.chargingNext, false.B)
    port.chargingNext := port.charge || (port.charging && !(ends(e) && s3Ends(e)) && !(blocked(
      e
    ) && (port.parks || cancels(e))))
    port.blocks := blocked(e) && !cancels(e)
    assert(!port.charge || !port.charging, "a charge came upon another")
    assert(
      port.charging === (VecInit(stages.take(3).map(_(e))).asUInt.orR || blocked(e)),
      "it is not known whether a charge is under way"
    )
    port.charging
  }

  private val fresh = 0.U.asTypeOf(new Record)
  private val written = Wire(new Record)
  written.stamped := true.B
  written.due := s4Due
  dues.write(!sweep.done, sweep.address, fresh)
  dues.write(s4Writes, s4Queue, written)
  dues.write(io.configure.valid, io.configure.bits.queue, fresh)
  configs.write(io.configure.valid, io.configure.bits.queue, io.configure.bits.shaper)

  // ---- parked queues
  private val q0Egress = if (p.egresses == 1) 1.U(1.W) else io.phase
  private val q0s = each(_ => RegInit(0.U(one.queueBits.W)))
  // With several egresses: the queue that became backlogged last is scanned first. Whether the scan's next queue is parked is read one cycle early.
  private val soon = each(_ => RegInit(0.U.asTypeOf(Valid(UInt(one.queueBits.W)))))
  private val ahead = each { e =>
    val port = io.egresses(e)
    val newlyParked = Delay(port.parkNext)
    if (p.egresses == 1) false.B
    else {
      when(port.park && port.mayBeDue) {
        soon(e).valid := true.B
        soon(e).bits := newlyParked
      }
      soon(e).valid && parked(e).read(q0s(e)) === freed(e).read(q0s(e))
    }
  }
  private val running = each { e =>
    val port = io.egresses(e)
    val q0 = q0s(e)
    // The highest queue that was ever configured. A step of the scan takes two cycles, so the scan has at least two queues.
    val highest = RegInit(1.U(one.queueBits.W))
    val configured = local(io.configure.bits.queue)
    when(io.configure.valid && isOf(e, io.configure.bits.queue) && configured > highest) { highest := configured }
    val runs = port.mayRelease && port.anyParked && q0Egress(e)
    when(!port.anyParked) { q0 := 0.U }.elsewhen(runs) { q0 := Mux(q0 === highest, 0.U, q0 + 1.U) }
    when(runs && ahead(e) && !(port.park && port.mayBeDue)) { soon(e).valid := false.B }
    port.scanned := Mux(ahead(e), soon(e).bits, q0)
    runs
  }
  private val q0 = global(q0Egress, choose(q0Egress, io.egresses.map(_.scanned)))
  private val q1Valid = RegNext(VecInit(running).asUInt.orR, false.B)
  private val q1 = Delay(q0)
  private val q1Egress = Delay(q0Egress)
  private def q1Bit(of: Seq[ForwardingRam[Bool]]): Bool =
    choose(q1Egress, of.zip(io.egresses).map { case (bits, port) => bits.read(port.scanned) })
  private val q1Freed = q1Bit(freed)
  private val q1Parked = q1Bit(parked) =/= q1Freed
  private val q1Record = dues.read(q0)
  private val q2 = Delay(q1)
  private val q2Scans = Delay(Delay(!choose(q0Egress, ahead)))
  private val q2Egress = Delay(q1Egress)
  private val q2Valid = RegNext(q1Valid, false.B)
  // The record may be older than the queue's last charge.
  private val q2IsCharged = (q2Egress & bits(e => charging(e) && charged(e) === local(q2))).orR ||
    (s4.orR && s4Queue === q2) || (s5.orR && s5Queue === q2)
  private val q2Waits = RegNext(q1Valid && q1Parked, false.B) && !q2IsCharged
  private val q2Freed = Delay(q1Freed)
  private val q2Record = Delay(q1Record)
  private val q2Due = q2Record.due
  private val q2Beyond = Delay(q1Record.due.beyond)
  private val release = q2Waits && (!q2Record.stamped || DueTime.paid(q2Due.next, q2Beyond, io.now) || io.flush.has(q2))
  for (e <- 0 until p.egresses) {
    val port = io.egresses(e)
    port.released.valid := release && q2Egress(e)
    port.released.bits := local(q2)
    val parkedBefore = parked(e).read(port.parkNext)
    val parkedQueue = Delay(port.parkNext)
    parked(e).write(!sweep.done, local(sweep.address), false.B)
    parked(e).write(port.park, parkedQueue, !parkedBefore)
    freed(e).write(!sweep.done, local(sweep.address), false.B)
    freed(e).write(port.released.valid, local(q2), !q2Freed)
    val count = RegInit(0.U((one.queueBits + 1).W))
    when(port.park =/= port.released.valid) { count := Mux(port.park, count + 1.U, count - 1.U) }
    port.anyParked := count =/= 0.U
  }

  // ---- the earliest of an egress's parked queues: the least over one undisturbed scan
  private val leasts = each(_ => RegInit(0.U.asTypeOf(Valid(new DueTime))))
  private val least = choose(q2Egress, leasts)
  private val isLeast = !(least.valid && Arithmetic.reached(q2Due.next, least.bits.next))
  for (e <- 0 until p.egresses) {
    val port = io.egresses(e)
    val here = q2Egress(e)
    val whole = RegInit(false.B) // this scan began at 0 and nothing has changed since
    val result = RegInit(0.U.asTypeOf(Valid(UInt(TimeBits.W)))) // whole ns
    val configures = io.configure.valid && isOf(e, io.configure.bits.queue)
    val disturbed = port.released.valid || port.park || port.charging || s4(e) || s5(e) || configures
    when(here && q2Valid && q2Scans && local(q2) === 0.U) {
      leasts(e).valid := q2Waits
      leasts(e).bits := q2Due
      whole := true.B
      when(whole) {
        result.valid := leasts(e).valid
        result.bits := leasts(e).bits.wholeNs
      }
    }.elsewhen(here && q2Waits && isLeast) {
      leasts(e).valid := true.B
      leasts(e).bits := q2Due
    }
    // Reads of q0 and q1 from before a change may still arrive.
    val disturbedBefore = RegNext(disturbed, false.B)
    when(disturbed || disturbedBefore || RegNext(disturbedBefore, false.B)) {
      whole := false.B
      result.valid := false.B
    }
    port.earliest := result
  }

  assert(sweep.done || !io.configure.valid, "a queue was configured before the memories are cleared")
}
