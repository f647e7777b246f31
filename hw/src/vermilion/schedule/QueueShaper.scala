package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** Shapes the queues, each by the virtual time of `DueTime`, and keeps aside ("parks") who must wait.
  *
  * One charge at a time: s1 operands, s2 floor and product, s3 shift, s4 sum and write, s5 compare. There it ends if the queue may send on at once, or does
  * not want to (`holdsFirst`); else it `blocks` from s6 on until `parks`. s4 waits a clock for a `configure`.
  *
  * Parked queues are looked at in turn, from 0 to the highest that was ever configured, at least two, one a clock whether parked or
  * not (q0 address, q1 read, q2 compare), while `mayRelease`, and from 0 on where nobody was parked before.
  * One that is due leaves with `released`, so at most that number + 4 clocks late if nobody waits for anything else; `scanned` names it two
  * clocks before. A queue whose charge is under way is passed over.
  *
  * `earliest` is the least due time of the parked, in whole ns rounded up, valid once a whole turn has passed with nothing changed.
  *
  * RAMs: `configs`, queues x 64 b, 1W 1R; `dues`, queues x 71 b, 1W (configure, else charge) 2R by two copies (charge, scan); `parked`
  * and `freed`, queues x 1 b that differ while parked, each with one writer. No register a queue; after reset all are swept for `queues` clocks.
  * A configure starts the queue afresh with its full burst. A charge of that queue in the same cycle, or
  * under way and not compared yet, is not written and blocks nothing. A queue that is configured in s6 is parked, and released by its next look.
  */
class QueueShaper(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new QueueService(p)))
    val queue = Input(UInt(p.queueBits.W)) // charged with `charge`
    val lenBytes = Input(UInt(PktLenBits.W))
    val charge = Input(Bool())
    val charging = Output(Bool())
    val chargingNext = Output(Bool()) // in the next clock
    val holdsFirst = Input(Bool()) // the queue that is charged may send on
    val blocks = Output(Bool()) // and must not: it waits to be parked
    val parks = Input(Bool()) // now it is
    val parkNext = Input(UInt(p.queueBits.W)) // who `park` is for in the next clock
    val park = Input(Bool())
    val mayRelease = Input(Bool())
    val flush = Input(new FlushSettings(p)) // these queues are released, due or not
    val scanned = Output(UInt(p.queueBits.W))
    val released = Valid(UInt(p.queueBits.W))
    val anyParked = Output(Bool())
    val earliest = Valid(UInt(TimeBits.W))
    val cost = Valid(new CostRequest) // to `PacketCost`
    val answer = Input(new CostAnswer)
  })

  private class Record extends Bundle {
    val stamped = Bool() // charged since configured
    val due = new DueTime
  }
  private val configs = new ForwardingRam(p.queues, new ShaperConfig)
  private val dues = new ForwardingRam(p.queues, new Record)
  private val parked = new ForwardingRam(p.queues, Bool())
  private val freed = new ForwardingRam(p.queues, Bool())
  private val sweep = new SweepInit(p.queues)
  private val nowClock = DueTime.clock(io.now)

  // ---- charge
  private val stage = RegInit(0.U(3.W))
  private val charged = RegEnable(io.queue, io.charge)
  private val chargedLen = RegEnable(io.lenBytes, io.charge)
  private val s1Config = configs.read(io.queue)
  private val s1Record = dues.read(io.queue)
  private val s2Config = Delay(s1Config)
  private val s2Record = Delay(s1Record)
  private val s2Burst = DueTime.clock40(s2Config.burstNs)
  private val s2Age = nowClock - s2Record.due.next
  private val s2Ahead = s2Age(DueTime.ClockBits - 1)
  io.cost.valid := stage === 2.U
  io.cost.bits.lenBytes := chargedLen
  io.cost.bits.costMant := s2Config.costMant
  io.cost.bits.costShift := s2Config.costShift
  // They stand until the write. Base and cost meet in one adder, which holds the choice of the base, too.
  private val s4Shift = RegEnable(s2Config.costShift, stage === 2.U)
  private val s4Floor = RegEnable(Arithmetic.wrap(io.now - s2Config.burstNs, TimeBits), stage === 2.U)
  private val s4Now = RegEnable(io.now, stage === 2.U)
  private val s4Next = RegEnable(s2Record.due.next, stage === 2.U)
  private val s4UseFloor = RegEnable(!s2Record.stamped || (!s2Ahead && s2Age > s2Burst), stage === 2.U)
  private val s4UseNow = RegEnable(s2Ahead, stage === 2.U)
  private val s4Cost = RegEnable(io.answer.cost, stage === 3.U)
  private val s4Magnitude = RegEnable(io.answer.magnitude, stage === 3.U)
  private val s4Base = Mux(s4UseFloor, DueTime.clock(s4Floor), Mux(s4UseNow, DueTime.clock(s4Now), s4Next))
  private val s4Due = DueTime.after(s4Cost + s4Base, s4Magnitude.costBits(s4Shift))
  assert(stage =/= 3.U || io.answer.ofQueue, "the answer to a queue's charge is the port's")
  // The charged queue was configured during its charge.
  private val renewed = RegInit(false.B)
  private val renews = io.configure.valid && io.configure.bits.queue === Mux(io.charge, io.queue, charged)
  when(io.charge || renews) { renewed := renews }
  private val s4Writes = stage === 4.U && !io.configure.valid && !renewed
  private val s5Due = RegEnable(s4Due, stage === 4.U)
  private val s5Beyond = RegEnable(s4Due.beyond, stage === 4.U)
  private val s5Ends = DueTime.paid(s5Due.next, s5Beyond, io.now) || !io.holdsFirst || renewed || renews
  io.charging := RegNext(io.chargingNext, false.B) // stage is not 0
  io.chargingNext := io.charge ||
    (stage =/= 0.U && !(stage === 5.U && s5Ends) && !(stage === 6.U && io.parks))
  io.blocks := stage === 6.U
  when(io.charge) {
    stage := 1.U
  }.elsewhen(stage === 5.U) {
    stage := Mux(s5Ends, 0.U, 6.U)
  }.elsewhen(stage === 6.U) {
    when(io.parks) { stage := 0.U }
  }.elsewhen(stage =/= 0.U && !(stage === 4.U && io.configure.valid)) { stage := stage + 1.U }

  assert(io.charging === (stage =/= 0.U), "it is not known whether a charge is under way")

  private val fresh = 0.U.asTypeOf(new Record)
  private val written = Wire(new Record)
  written.stamped := true.B
  written.due := s4Due
  dues.write(!sweep.done, sweep.address, fresh)
  dues.write(s4Writes, charged, written)
  dues.write(io.configure.valid, io.configure.bits.queue, fresh)
  configs.write(io.configure.valid, io.configure.bits.queue, io.configure.bits.shaper)

  // ---- parked queues
  private val count = RegInit(0.U((p.queueBits + 1).W))
  private val q0 = RegInit(0.U(p.queueBits.W))
  // That was ever configured. A look takes two clocks, so the turn has at least two queues.
  private val highest = RegInit(1.U(p.queueBits.W))
  when(io.configure.valid && io.configure.bits.queue > highest) { highest := io.configure.bits.queue }
  private val running = io.mayRelease && io.anyParked
  when(!io.anyParked) {
    q0 := 0.U
  }.elsewhen(running) { q0 := Mux(q0 === highest, 0.U, q0 + 1.U) }
  io.scanned := q0
  private val q1Valid = RegNext(running, false.B)
  private val q1 = Delay(q0)
  private val q1Freed = freed.read(q0)
  private val q1Parked = parked.read(q0) =/= q1Freed
  private val q1Record = dues.read(q0)
  private val q2 = Delay(q1)
  private val q2Valid = RegNext(q1Valid, false.B)
  private val q2Waits = RegNext(q1Valid && q1Parked, false.B) && !(io.charging && charged === q2)
  private val q2Freed = Delay(q1Freed)
  private val q2Record = Delay(q1Record)
  private val q2Due = q2Record.due
  private val q2Beyond = Delay(q1Record.due.beyond)
  private val release = q2Waits && (!q2Record.stamped || DueTime.paid(q2Due.next, q2Beyond, io.now) || io.flush.has(q2))
  io.released.valid := release
  io.released.bits := q2
  private val parkedBefore = parked.read(io.parkNext)
  private val parkedQueue = Delay(io.parkNext)
  parked.write(!sweep.done, sweep.address, false.B)
  parked.write(io.park, parkedQueue, !parkedBefore)
  freed.write(!sweep.done, sweep.address, false.B)
  freed.write(release, q2, !q2Freed)
  when(io.park =/= release) { count := Mux(io.park, count + 1.U, count - 1.U) }
  io.anyParked := count =/= 0.U

  // ---- the earliest of all that wait: least over one undisturbed turn
  private val least = RegInit(0.U.asTypeOf(Valid(new DueTime)))
  private val whole = RegInit(false.B) // this turn began at 0 and nothing has changed since
  private val result = RegInit(0.U.asTypeOf(Valid(UInt(TimeBits.W)))) // whole ns
  private val disturbed = release || io.park || io.charging || io.configure.valid
  when(q2Valid && q2 === 0.U) {
    least.valid := q2Waits
    least.bits := q2Due
    whole := true.B
    when(whole) {
      result.valid := least.valid
      result.bits := least.bits.wholeNs
    }
  }.elsewhen(q2Waits && !(least.valid && Arithmetic.reached(q2Due.next, least.bits.next))) {
    least.valid := true.B
    least.bits := q2Due
  }
  // What q0 and q1 read before a disturbance may still come.
  private val disturbedBefore = RegNext(disturbed, false.B)
  when(disturbed || disturbedBefore || RegNext(disturbedBefore, false.B)) {
    whole := false.B
    result.valid := false.B
  }
  io.earliest := result

  assert(!io.charge || !io.charging, "a charge came upon another")
  assert(sweep.done || !io.configure.valid, "a queue was configured within the first clocks after reset")
}
