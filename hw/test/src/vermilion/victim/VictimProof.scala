package vermilion.victim

import chisel3._
import chisel3.util._
import chisel3.util.experimental.BoringUtils
import _root_.circt.stage.ChiselStage
import vermilion.fixed.{Delay, MemoryKind}
import vermilion.lane.{EmitOptions, Emitter}

/** What a proof lets vary from packet to packet. */
sealed trait ProofForm
object ProofForm {
  case object Red extends ProofForm // one class, two distances, no marks, lists by distance
  case object Ecn extends ProofForm // and marks, and colours in one of two ways for the whole run
  case object Tail
      extends ProofForm // only the last two packets may lose, those that are not shorter if the packet says so
  case object Mixed extends ProofForm // any of all this, packet by packet
  val all: Seq[ProofForm] = Seq(Red, Ecn, Tail, Mixed)
}

/** Low at power-on, high from the first edge on: a proof's reset, which no solver may choose. */
class PowerOn extends ExtModule {
  val clock = IO(Input(Clock()))
  val running = IO(Output(Bool()))
  setInline(
    "PowerOn.sv",
    "module PowerOn(input clock, output reg running = 1'b0);\n  always @(posedge clock) running <= 1'b1;\nendmodule\n"
  )
}

/** What a proof checks of [[VictimPipeline]] on a small build, beside the assertions that stand in the blocks themselves.
  *
  * The inputs are free. Any packet comes in any clock from `ready` on, in any free cell, to any queue, with any action, distance, class; from any queue
  * whose head holds a packet one is taken in any clock. What the surroundings never do is not made: an offer that is not legal is no offer. They promise:
  *  - a packet has a cell that is not in use; a cell may come again in the clock behind its return, and a packet without cells is refused;
  *  - of a queue no more packets are taken than have become head, one in a clock, not before the third clock behind the new head;
  *  - cells and queues come into first use in the order of their numbers. That loses nothing: both are names, and no logic orders them.
  *
  * Beside the block stand plain bodies, arrays of packets in order, which follow what it tells. It is asserted that
  *  - the packet that becomes head is its body's oldest, has its own mark, and finds a free place, the next one;
  *  - a victim stands in its body and was no victim before; each push-out costs exactly one packet;
  *  - a cell comes back once, when its packet has gone, and at rest the cells in use are those of the queued packets;
  *  - the bitmap that a search looks at has the bits of the body's packets, in every clock;
  *  - where no other packet came or went since s0, the victim is the one that looking at all packets finds: lists, bitmap and window agree with the body.
  */
class VictimProof(v: VictimParams, form: ProofForm) extends RawModule {
  val clock = IO(Input(Clock()))
  val arrival = IO(Input(new Arrival(v)))
  val arrives = IO(Input(Bool()))
  val takeQueue = IO(Input(UInt(v.queueBits.W)))
  val serves = IO(Input(Bool()))
  private val power = Module(new PowerOn)
  power.clock := clock
  withClockAndReset(clock, !power.running) { Module(new VictimChecks(v, form)).connect(this) }
}

private class VictimChecks(v: VictimParams, form: ProofForm) extends Module {
  val io = IO(new Bundle {
    val arrival = Flipped(Valid(new Arrival(v)))
    val take = Flipped(Valid(UInt(v.queueBits.W)))
  })
  def connect(top: VictimProof): Unit = {
    io.arrival.valid := top.arrives
    io.arrival.bits := top.arrival
    io.take.valid := top.serves
    io.take.bits := top.takeQueue
  }
  private val Outcomes = VictimQueues.Ahead + VictimQueues.Latency
  private val LastPackets = 2 // n of the tail-drop form

  private class Packet extends Bundle {
    val cell = UInt(v.cellBits.W)
    val rank = new Rank(v)
    val isLong = Bool() // two cells, else one
    val ect = Bool()
    val marked = Bool()
    val listed = Bool()
  }
  private class Plain extends Bundle {
    val packets = Vec(v.cells, new Packet)
    val length = UInt((v.cellBits + 1).W)
    def empty: Bool = length === 0.U
    def holds(i: Int): Bool = i.U < length
    def cells: UInt =
      packets.zipWithIndex.map { case (p, i) => Mux(holds(i), UIntToOH(p.cell, v.cells), 0.U) }.reduce(_ | _)
  }

  private val dut = Module(new VictimPipeline(v))

  // ---- what may come
  private val held, used = RegInit(0.U(v.cells.W))
  private val usedQueues = RegInit(0.U(v.queues.W))
  private val offered = io.arrival.bits
  private val byColour = RegEnable(offered.byColour, reset.asBool)
  private val a = WireDefault(offered)
  private val isLong = offered.lenBytes(0)
  a.lenBytes := Mux(isLong, 128.U, 64.U)
  a.cells := Mux(offered.cells === 0.U, 0.U, Mux(isLong, 2.U, 1.U))
  form match {
    case ProofForm.Red =>
      a.distance := offered.distance(0)
      a.byColour := false.B
      a.mayMark := false.B
      a.last := 0.U
    case ProofForm.Ecn =>
      a.byColour := byColour
      a.last := 0.U
    case ProofForm.Tail =>
      a.byColour := byColour
      a.mayMark := false.B
      a.last := LastPackets.U
    case ProofForm.Mixed =>
      a.last := Mux(offered.last(0), LastPackets.U, 0.U)
  }
  private def inOrder(used: UInt, name: UInt, names: Int) = ((used << 1).asUInt | 1.U)(names - 1, 0)(name)
  private val hasCells = a.cells =/= 0.U
  private val legal = dut.io.ready && a.action <= Action.PushOut.U && a.colour < 3.U && a.queue < v.queues.U &&
    (hasCells || a.action === Action.Refuse.U) && !(hasCells && held(a.cell)) &&
    inOrder(used, a.cell, v.cells) && inOrder(usedQueues, a.queue, v.queues)
  private val arrives = io.arrival.valid && legal
  when(arrives) {
    used := used | UIntToOH(a.cell, v.cells)
    usedQueues := usedQueues | UIntToOH(a.queue, v.queues)
  }
  dut.io.ahead.valid := arrives
  dut.io.ahead.bits := a.sought
  dut.io.arrival.valid := Seq.iterate(arrives, VictimQueues.Ahead + 1)(RegNext(_, false.B)).last
  dut.io.arrival.bits := Delay(a, VictimQueues.Ahead)

  // ---- plain bodies
  private val plain = RegInit(VecInit(Seq.fill(v.queues)(0.U.asTypeOf(new Plain))))
  private val o = dut.io.outcome.bits
  private val told = dut.io.outcome.valid
  private val s6 = Delay(a, Outcomes)
  private val queue = s6.queue
  private val before = plain(queue)
  private val isVictim = VecInit(before.packets.zipWithIndex.map { case (packet, i) =>
    before.holds(i) && packet.cell === o.victim.cell
  })
  private val place = PriorityEncoder(isVictim)
  private val victim = before.packets(place)
  private val goesThere = told && (o.evicted || o.victimMarked)
  private val pushOut = s6.action === Action.PushOut.U

  private val afterOutcome = WireDefault(plain)
  private val fresh = Wire(new Packet)
  fresh.cell := s6.cell
  fresh.rank := s6.rank
  fresh.isLong := s6.lenBytes === 128.U
  fresh.ect := s6.ect
  fresh.marked := o.marked
  fresh.listed := s6.last === 0.U
  private val appended = WireDefault(before)
  when(o.enqueued) {
    appended.packets(before.length(v.cellBits - 1, 0)) := fresh
    appended.length := before.length + 1.U
  }
  private def without(from: Plain, place: UInt): Plain = {
    val rest = Wire(new Plain)
    for (i <- 0 until v.cells) {
      val behind = from.packets((i + 1).min(v.cells - 1))
      rest.packets(i) := Mux(i.U >= place, behind.asUInt, from.packets(i).asUInt).asTypeOf(new Packet)
    }
    rest.length := from.length - 1.U
    rest
  }
  when(told) {
    afterOutcome(queue) := appended
    when(o.evicted) { afterOutcome(queue) := without(appended, place) }
    when(o.victimMarked) { afterOutcome(queue).packets(place).marked := true.B }
  }

  // ---- new head: it comes with the outcome of the packet in its slot, and is told a clock before
  private val newHead = RegNext(dut.io.newHead.valid, false.B)
  private val newHeadBits = Delay(dut.io.newHead.bits)
  private val now = WireDefault(afterOutcome)
  private val leaves = afterOutcome(newHeadBits.queue)
  when(newHead) { now(newHeadBits.queue) := without(leaves, 0.U) }
  plain := now

  // ---- heads: cells in order, and how many were ever made head
  private class Head extends Bundle {
    val cells = Vec(v.places, UInt(v.cellBits.W))
    val length = UInt(log2Ceil(v.places + 1).W)
    val place = UInt(log2Ceil(v.places).W) // of the next
    def names: UInt =
      cells.zipWithIndex.map { case (c, i) => Mux(i.U < length, UIntToOH(c, v.cells), 0.U) }.reduce(_ | _)
  }
  private val heads = RegInit(VecInit(Seq.fill(v.queues)(0.U.asTypeOf(new Head))))
  private val taken = RegInit(false.B)
  private val takenQueue = Delay(io.take.bits)
  private val takes = io.take.valid && io.take.bits < v.queues.U && heads(io.take.bits).length =/= 0.U
  private val takenCell = heads(io.take.bits).cells(0)
  private val headsNow = WireDefault(heads)
  when(newHead) {
    val head = heads(newHeadBits.queue)
    assert(
      !leaves.empty && leaves.packets(0).cell === newHeadBits.cell,
      "the packet that becomes head is not its body's oldest"
    )
    assert(leaves.packets(0).marked === newHeadBits.marked, "a mark is lost or made up")
    assert(
      head.length < v.places.U && newHeadBits.place === head.place,
      "a packet becomes head in a place that is not free"
    )
    headsNow(newHeadBits.queue).cells(head.length) := newHeadBits.cell
    headsNow(newHeadBits.queue).length := head.length + 1.U
    headsNow(newHeadBits.queue).place := head.place + 1.U
  }
  private val headsLeft = WireDefault(headsNow)
  when(takes) {
    val head = headsNow(io.take.bits)
    for (i <- 0 until v.places - 1) headsLeft(io.take.bits).cells(i) := head.cells(i + 1)
    headsLeft(io.take.bits).length := head.length - 1.U
  }
  heads := headsLeft
  taken := takes
  dut.io.taken.valid := taken
  dut.io.taken.bits := takenQueue

  // ---- the victim
  private val arrived = Seq.iterate(arrives, 11)(RegNext(_, false.B))
  private val newHeadAgo = Seq.iterate(newHead, 8)(RegNext(_, false.B))
  assert(told === arrived(Outcomes), "an outcome is late or missing")
  when(told) {
    val costs = o.evicted +& o.victimMarked +& (pushOut && o.marked) +& (pushOut && !o.enqueued)
    assert(costs === pushOut.asUInt, "a push-out does not cost exactly one packet")
    assert(pushOut || o.enqueued === (s6.action === Action.Admit.U), "policy's admission or refusal is not kept")
  }
  when(goesThere) {
    assert(isVictim.asUInt.orR, "the victim does not stand in its body")
    assert(!victim.marked, "a packet is a victim twice")
    assert(victim.rank.distance === o.victim.distance, "the victim has another distance than is told")
    assert(victim.rank.distance <= s6.distance, "the victim is further than the arriving packet")
    assert(
      o.victimMarked === (victim.ect && s6.mayMark && s6.last === 0.U),
      "marked for evicted, or evicted for marked"
    )
  }

  // ---- the index: with nothing else on its way, all packets are looked at
  private val alone = !arrived.slice(7, 11).reduce(_ || _) && !newHeadAgo.slice(0, 8).reduce(_ || _)
  private val byWindow = s6.last =/= 0.U
  private val candidates = before.packets.zipWithIndex.map { case (packet, i) =>
    val inReach = !byWindow || i.U +& s6.last >= before.length
    val may = before.holds(i) && !packet.marked && s6.mayLose(packet.rank.slot) &&
      queue < v.indexed.U && packet.listed === !byWindow && inReach
    (may, packet.rank.asUInt, i.U(v.cellBits.W))
  }
  private val best = candidates.reduce { (one, other) =>
    val otherWins = other._1 && (!one._1 || other._2 < one._2)
    (one._1 || other._1, Mux(otherWins, other._2, one._2), Mux(otherWins, other._3, one._3))
  }
  private val tooShort = byWindow && s6.asLong && !before.packets(best._3).isLong && s6.lenBytes === 128.U
  private val bestGoes = best._1 && (best._2 >> 2).asUInt <= s6.distance && !tooShort
  when(told && pushOut && alone) {
    assert(goesThere === bestGoes, "alone, the victim that there is was not found")
    assert(!bestGoes || place === best._3, "alone, another than the nearest and oldest is the victim")
  }

  // ---- the bitmap, as any clock's search sees it
  private val lookedAt = Delay(a.queue)
  private val indexed = now(lookedAt).packets.zipWithIndex.map { case (packet, i) =>
    Mux(now(lookedAt).holds(i) && packet.listed && !packet.marked, packet.rank.oneHot, 0.U)
  }
  private val bitmap = BoringUtils.bore(dut.lists.io.found)
  assert(!RegNext(dut.io.ready, false.B) || bitmap === indexed.reduce(_ | _), "the bitmap is not that of the body")

  // ---- cells
  private val freed = Mux(dut.io.freed.valid, UIntToOH(dut.io.freed.bits.cell, v.cells), 0.U)
  private val sent = Mux(takes, UIntToOH(takenCell, v.cells), 0.U)
  held := (held & ~(freed | sent)) | Mux(arrives && hasCells, UIntToOH(a.cell, v.cells), 0.U)
  assert(((freed | sent) & ~held) === 0.U, "a cell comes back that is not in use")
  assert((freed & sent) === 0.U, "a cell comes back twice")
  private val standing = (now.map(_.cells) ++ headsNow.map(_.names)).reduce(_ | _)
  assert((freed & standing) === 0.U, "a cell comes back while its packet is queued")
  private val gone = Mux(o.evicted, victim.isLong, s6.lenBytes === 128.U)
  assert(!dut.io.freed.valid || dut.io.freed.bits.cells === Mux(gone, 2.U, 1.U), "not all cells of a packet come back")
  // Packets on their way have a cell; the outcome of the one in s6 is in `now`, or its cell comes back in this clock.
  private val onTheWay = (1 until Outcomes).map { i => arrived(i) && Delay(hasCells, i) }
  private val theirCells = (1 until Outcomes).map(i => Mux(onTheWay(i - 1), UIntToOH(Delay(a.cell, i), v.cells), 0.U))
  assert(held === theirCells.fold(standing | freed)(_ | _), "a cell is lost, or used by nobody")
  private val uses =
    PopCount(onTheWay) +& (now.map(_.length) ++ headsNow.map(_.length)).reduce(_ +& _) +& dut.io.freed.valid
  assert(PopCount(held) === uses, "a cell is used twice")
}

/** Writes a proof's SystemVerilog: `EmitProof FORM CELLS DIRECTORY`. */
object EmitProof extends Emitter {
  private val forms = ProofForm.all.map(form => form.toString.toLowerCase -> form).toMap

  def usage: String = s"EmitProof FORM CELLS DIRECTORY; FORM one of ${forms.keys.toSeq.sorted.mkString(", ")}"

  def emit(words: Seq[String]): Boolean = words match {
    case Seq(form, cells, directory) if forms.contains(form) =>
      val v = VictimParams(queues = 2, cells = cells.toInt, indexed = 2, distanceBits = 2, places = 2)
      MemoryKind.lutDepth.withValue(0) { // as in builds with many cells
        ChiselStage.emitSystemVerilogFile(
          new VictimProof(v, forms(form)),
          Array("--target-dir", directory, "--split-verilog"),
          EmitOptions.proof
        )
      }
      true
    case _ => false
  }
}
