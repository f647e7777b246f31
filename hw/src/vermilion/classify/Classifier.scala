package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.fixed.SweepInit
import vermilion.lane.LaneParams
import vermilion.stream._

/** A packet's class: its queue, and the colour with which it arrives. */
class ClassEntry(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
}

/** A write to the table of the entry's egress. Addresses 0 to 63 are DSCPs; 64 is the entry of frames without IP. */
class ClassWrite(p: LaneParams) extends Bundle {
  val address = UInt(7.W)
  val entry = new ClassEntry(p)
}

/** Which packets of a pair's classes go to L: those whose ECN field has a bit of `mask`. */
class L4sWrite(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W) // C or L; of L's mask only counts whether it is 0
  val mask = UInt(2.W)
}

/** Maps a frame's DSCP to its queue and colour (RFC 2474 section 3, RFC 2597).
  *
  * Each egress has a table of 64 entries, and an entry for frames without IP. An entry holds the queue's number within its egress, so no packet goes to
  * an egress other than its own. A colour of 3 counts as red, so any content is harmless.
  *
  * In builds with `rules` a packet's rule may give it another queue of its egress, and another colour ([[RuleTable]]).
  *
  * In builds with `dualpi2` a packet of queue 2 i goes to queue 2 i + 1 if both queues are under DualPI2 and its ECN field has a bit of the mask of C (RFC 9331, section 5.1). Frames without IP have no ECN field.
  *
  * In builds with `fq` a packet whose class names a queue of a group goes to the queue that its flow selects ([[FlowGroups]]).
  *
  * Combinational: the tables are in LUT RAM. A reset clears them in `Classifier.clearCycles` cycles. Until then they read as cleared, which is queue 0 of
  * the egress, and they must not be written.
  */
class Classifier(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val headers = Input(new Headers)
    val egress = Input(UInt(p.egressBits.W))
    val entry = Output(new ClassEntry(p))
    val rule = Option.when(p.rules > 0)(Input(new RuleChoice(p.ruleBits, p.ofOneEgress.queueBits)))
    val write = Flipped(Valid(new ClassWrite(p)))
    val l4s = Option.when(p.dualpi2)(Flipped(Valid(new L4sWrite(p))))
    val group = Option.when(p.fq)(Flipped(Valid(new GroupWrite(p))))
    val seed = Option.when(p.fq)(Flipped(Valid(UInt(128.W)))) // of the hash of flows
    val ready = Option.when(p.fq)(Output(Bool())) // the hash has its key
    val flow = Option.when(p.fq)(Output(new FlowTag)) // of the packet
  })
  import Classifier.CodePoints
  private val localBits = p.ofOneEgress.queueBits
  private class Stored extends Bundle {
    val queue = UInt(localBits.W)
    val colour = UInt(2.W)
  }
  private val codeBits = log2Ceil(CodePoints)
  private def ofEgress(queue: UInt): UInt = queue(p.queueBits - 1, localBits)
  private def at(egress: UInt, code: UInt): UInt = if (p.egresses == 1) code else egress ## code

  private val write = io.write.bits
  private val stored = Wire(new Stored)
  stored.queue := write.entry.queue(localBits - 1, 0)
  stored.colour := write.entry.colour
  private val writtenEgress = if (p.egresses == 1) 0.U else ofEgress(write.entry.queue)
  private val sweep = new SweepInit(p.egresses * CodePoints)
  private val table = Mem(p.egresses * CodePoints, UInt((new Stored).getWidth.W))
  when(!sweep.done || (io.write.valid && !write.address(codeBits))) {
    table.write(
      Mux(sweep.done, at(writtenEgress, write.address(codeBits - 1, 0)), sweep.address),
      Mux(sweep.done, stored.asUInt, 0.U)
    )
  }
  assert(sweep.done || !io.write.valid, "an entry is written before the table is cleared")
  private val others = Seq.tabulate(p.egresses) { egress =>
    RegEnable(stored, 0.U.asTypeOf(stored), io.write.valid && write.address(codeBits) && writtenEgress === egress.U)
  }
  private val other = if (p.egresses == 1) others.head else VecInit(others)(io.egress)
  private val ofCodePoint = table.read(at(io.egress, io.headers.dscp)) & Fill(stored.getWidth, sweep.done)
  private val isIp = io.headers.isIp4 || io.headers.isIp6
  private val raw = WireInit(Mux(isIp, ofCodePoint.asTypeOf(other), other))
  for (rule <- io.rule) {
    when(rule.action.queue.valid) { raw.queue := rule.action.queue.bits }
    when(rule.action.colour.valid) { raw.colour := rule.action.colour.bits }
  }
  private val queue = if (p.egresses == 1) raw.queue else io.egress ## raw.queue
  private val isL4s = io.l4s.map { write =>
    val pairs = p.queues / 2
    val pairBits = log2Ceil(pairs).max(1)
    def pairOf(queue: UInt): UInt = if (pairs == 1) 0.U else queue(p.queueBits - 1, 1)
    val clear = new SweepInit(pairs)
    val masks = Seq.fill(2)(Mem(pairs, UInt(2.W))) // of C and of L
    for ((of, l) <- masks.zipWithIndex) when(!clear.done || (write.valid && write.bits.queue(0) === l.U)) {
      of.write(
        Mux(clear.done, pairOf(write.bits.queue), clear.address(pairBits - 1, 0)),
        Mux(clear.done, write.bits.mask, 0.U)
      )
    }
    val Seq(mask, ofL) = masks.map(_.read(pairOf(queue)))
    clear.done && isIp && !queue(0) && ofL.orR && (mask & io.headers.ecn).orR
  }
  private val groups = Option.when(p.fq)(Module(new FlowGroups(p)).suggestName("groups"))
  for (groups <- groups) {
    groups.io.headers := io.headers
    groups.io.queue := queue
    groups.io.write := io.group.get
    groups.io.seed := io.seed.get
    io.ready.get := groups.io.ready
    io.flow.get := groups.io.name
  }
  io.entry.queue := groups.map(_.io.chosen).getOrElse(queue) | isL4s.getOrElse(false.B)
  io.entry.colour := Mux(raw.colour === 3.U, Colour.Red.U, raw.colour)
}

object Classifier {
  val CodePoints = 64

  /** Cycles after a reset in which the tables are cleared. */
  def clearCycles(p: LaneParams): Int = p.egresses * CodePoints
}
