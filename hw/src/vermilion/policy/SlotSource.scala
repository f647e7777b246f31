package vermilion.policy

import chisel3._
import chisel3.util._
import vermilion.classify._
import vermilion.decide.RandomSource
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream._

/** Fills the pipeline's slots, one per cycle: commit, then host read, then packet, then refresh.
  *
  * A commit or a host read comes from a register access and takes one slot. A register access takes several cycles, so descriptors
  * wait for at most one of them. Packets have priority over refreshes. Averages that also step on departures use the slots that packets leave free.
  * If [[SlotSource.Refreshes]] departures wait already, the refresh of a further one is dropped (`skipped`).
  * The average then steps a little less often, and nothing else changes.
  *
  * Combinational from the inputs to `token`. No input is ready while `enable` is low.
  */
class SlotSource(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val enable = Input(Bool())
    val now = Input(UInt(TimeBits.W))
    val commit = Flipped(Decoupled(UInt(p.queueBits.W)))
    val l4sMask = Input(UInt(2.W)) // with `commit`; in builds with `dualpi2`
    val group = Option.when(p.fq)(Input(new FlowGroup)) // with `commit`
    val ready = Option.when(p.fq)(Output(Bool())) // packets can be classified
    val flow = Option.when(p.fq)(Output(new FlowTag)) // of the packet in `token`
    val hostRead = Flipped(Decoupled(UInt(p.queueBits.W)))
    val descriptor = Flipped(Decoupled(new PacketDescriptor(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val departureUpdates = Input(Bool())
    val routes = Input(Vec(p.inputs, UInt(p.egressBits.W))) // each input's egress
    val skipped = Output(Bool())
    val classWrite = Flipped(Valid(new ClassWrite(p)))
    val seed = Flipped(Valid(new Seeds))
    val token = Valid(new Token(p))
    val waiting = Output(Bool()) // a refresh waits
  })
  private val classifier = Module(new Classifier(p))
  private val random = Module(new RandomSource)
  classifier.io.write <> io.classWrite
  for (l4s <- classifier.io.l4s) {
    l4s.valid := io.commit.fire
    l4s.bits.queue := io.commit.bits
    l4s.bits.mask := io.l4sMask
  }
  for ((write, group) <- classifier.io.group.zip(io.group)) {
    write.valid := io.commit.fire
    write.bits.queue := io.commit.bits
    write.bits.group := group
    classifier.io.seed.get.valid := io.seed.valid
    classifier.io.seed.get.bits := io.seed.bits.flow
    io.ready.get := classifier.io.ready.get
    io.flow.get := classifier.io.flow.get
  }
  classifier.io.headers := io.descriptor.bits.headers
  classifier.io.rule.zip(io.descriptor.bits.rule).foreach { case (to, from) => to := from }
  classifier.io.egress := (
    if (p.routeInUser) io.descriptor.bits.user(p.egressBits - 1, 0)
    else if (p.inputs == 1) io.routes.head
    else io.routes(io.descriptor.bits.input)
  )
  private val markRandom = Module(new RandomSource)
  for ((source, seed) <- Seq(random -> io.seed.bits.decide, markRandom -> io.seed.bits.mark)) {
    source.io.seed.valid := io.seed.valid
    source.io.seed.bits := seed
    source.io.next := io.descriptor.fire
  }

  private val refreshes = Module(new Queue(new Departure(p), SlotSource.Refreshes))
  refreshes.io.enq.valid := io.departed.valid && io.departureUpdates
  refreshes.io.enq.bits := io.departed.bits
  io.skipped := refreshes.io.enq.valid && !refreshes.io.enq.ready
  io.waiting := refreshes.io.deq.valid

  io.commit.ready := io.enable
  io.hostRead.ready := io.commit.ready && !io.commit.valid
  io.descriptor.ready := io.hostRead.ready && !io.hostRead.valid
  refreshes.io.deq.ready := io.descriptor.ready && !io.descriptor.valid

  private val token = io.token.bits
  io.token.valid := io.commit.fire || io.hostRead.fire || io.descriptor.fire || refreshes.io.deq.fire
  token.slot := Slot.Packet
  token.descriptor := io.descriptor.bits
  token.entry := classifier.io.entry
  token.time := DontCare // set by PolicyPipeline
  token.draw := random.io.draw
  token.distance := 0.U
  token.mark := 0.U.asTypeOf(new MarkTrace)
  token.mark.time := io.now
  token.mark.colour := classifier.io.entry.colour
  token.mark.draw := markRandom.io.draw
  for ((marker, rule) <- token.marker.zip(io.descriptor.bits.rule)) {
    val named = if (p.egresses == 1) rule.action.marker.bits else classifier.io.egress ## rule.action.marker.bits
    token.mark.policed := rule.action.drop
    marker := Mux(rule.action.marker.valid, named, classifier.io.entry.queue)
  }
  when(io.commit.valid) {
    token.slot := Slot.Commit
    token.entry.queue := io.commit.bits
  }.elsewhen(io.hostRead.valid) {
    token.slot := Slot.HostRead
    token.entry.queue := io.hostRead.bits
  }.elsewhen(!io.descriptor.valid) {
    token.slot := Slot.Refresh
    token.entry.queue := refreshes.io.deq.bits.queue
    token.entry.colour := refreshes.io.deq.bits.colour
  }
}

/** Seeds of the random sources: for verdicts, for markers, and for verdicts at departure with the keys of the flow hashes. */
class Seeds extends Bundle {
  val decide = UInt(128.W)
  val mark = UInt(128.W)
  val flow = UInt(128.W) // of the hashes of flows, and of verdicts at departure
}

object SlotSource {

  /** The depth of the FIFO of departures that wait for a refresh. */
  val Refreshes = 16
}
