package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.lane.LaneParams
import vermilion.queue.PacketRef

/** A packet from the queue manager's RAM, with the flags that the choice needs. */
class ComingPacket(p: LaneParams) extends Bundle {
  val packet = new PacketRef(p)
  val more = Bool() // a successor is queued after it
  val covered = Bool() // the deficit of its queue covers it; in a strict level always true
}

/** A queue that becomes first, read from RAM: its first packet, its newest, and the one before the newest. */
class ArrivedQueue(p: LaneParams) extends Bundle {
  val packet, newest = new PacketRef(p)
  val newestBefore = UInt(p.nameBits.W)
  val more = Bool() // the first is not the newest
  val deficit = UInt(Scheduler.DeficitBits.W)
}

/** Prefetches the successor of the first packet of the list that is served, before the first is taken.
  *
  * The successor is also called the second packet. The queue manager's RAM answers one cycle after a request, and the choice has no time
  * to use this answer. So in every cycle this module requests the successor of the packet that will be first next. That packet is
  * the second if it is `known`, otherwise the first. A second that is not taken in the cycle in which it comes from RAM stays in a register.
  *
  * If the second is known at a `keep`, its queue may send in the next cycle, and so on, one packet per cycle. Otherwise, for example if the
  * queue has just become first, its packet comes from RAM in the next cycle (`comes`). Nothing is served in that cycle.
  * While all lists are empty, the request is for the queue that is inserted into one. A packet appended to a queue of length one is the second.
  * For a queue that becomes first with two packets the second is its newest packet. `newestBefore` gives that packet's predecessor.
  *
  * A second belongs to the list that was served in the cycle before. If another list is served now (`same` is low), no second is known.
  */
class SecondPacket(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val first = Flipped(Valid(new PacketRef(p))) // the first packet, unless it comes from RAM
    val more = Input(Bool()) // a successor is queued after it
    // Whether the packet that comes, and the first, are in the DRR list. Otherwise they are covered at any length.
    val comesInRound, inRound = Input(Bool())
    val deficit = Input(
      UInt(Scheduler.DeficitBits.W)
    ) // of the first, unless it comes from RAM; after a keep, less the packet that was taken
    val same = Input(Bool()) // the list of the cycle before is served
    val none = Input(Bool()) // no list holds a queue
    val pushed = Flipped(Valid(new PacketRef(p))) // of a queue that is inserted into a list
    val pushedDeficit = Input(UInt(Scheduler.DeficitBits.W))
    val pushedMore = Input(Bool()) // a successor is queued after it
    val arrived = Flipped(Valid(new ArrivedQueue(p))) // the first comes from RAM
    val keep = Input(Bool()) // the first packet is taken, its queue stays
    val pop = Input(Bool()) // its queue leaves
    val joins = Flipped(Valid(new PacketRef(p))) // is appended to a queue that holds others
    val ask = Valid(UInt(p.nameBits.W)) // the packet whose successor is wanted in the next cycle, if it has one
    val successor = Input(new PacketRef(p))
    val newestServed = Input(UInt(p.nameBits.W)) // its queue's newest packet
    val known = Output(Bool()) // `coming` is the second
    val comes = Output(Bool()) // `coming` is the first, after a keep
    val coming = Output(new ComingPacket(p))
  })

  private val comes = RegNext(io.keep && !io.known, false.B)
  private val answer = Wire(new ComingPacket(p))
  answer.packet := io.successor
  answer.more := io.successor.name =/= io.newestServed
  private val first = io.first.bits
  private def unlessStrict(deficit: UInt, round: Bool): UInt = deficit | Fill(Scheduler.DeficitBits, !round)
  // The deficit after the first packet, unless the packet that comes is the first itself. It has no meaning if it does not cover the first.
  private val left = WireDefault(UInt(Scheduler.DeficitBits.W), io.deficit)
  answer.covered := unlessStrict(Mux(comes, io.deficit, left), io.comesInRound) >= io.successor.lenBytes
  io.comes := comes

  val stands = RegInit(false.B)
  val second = Reg(new ComingPacket(p))
  val answers = RegInit(false.B) // in this cycle, with the second
  val alone = RegNext(io.none, false.B) // the first, if there is one, was inserted in the cycle before
  val fetched = (stands || answers) && (io.same || alone) && io.first.valid
  val from = io.arrived.bits
  val ofTwo = Wire(new ComingPacket(p))
  ofTwo.packet := from.newest
  ofTwo.more := false.B
  ofTwo.covered := !Arithmetic.passTogether(
    from.packet.lenBytes,
    from.newest.lenBytes,
    unlessStrict(from.deficit, io.inRound)
  )
  io.known := fetched || (io.arrived.valid && from.more && from.newestBefore === from.packet.name)
  io.coming := Mux(io.arrived.valid, ofTwo, Mux(stands, second, answer))

  // The first packet of this cycle, from any source. Early signals select it; the RAM output passes only one multiplexer, at the end.
  val standing = Wire(new ComingPacket(p)) // not from the queue manager's RAM
  standing.covered := DontCare
  when(io.arrived.valid) {
    standing.packet := from.packet
    standing.more := from.more
  }.elsewhen(io.none) { // but from the next cycle on
    standing.packet := io.pushed.bits
    standing.more := io.pushed.valid && io.pushedMore
  }.otherwise {
    standing.packet := first
    standing.more := io.first.valid && io.more
  }
  val comesHere = comes && io.same
  val now = Mux(comesHere, answer, standing)
  val deficit = Mux(io.arrived.valid, from.deficit, io.deficit)

  // The successor of the first, or of the second. In a queue of two packets, the second has none.
  val ofSecond = Mux(stands, second, answer)
  val length = Mux(comesHere, answer.packet.lenBytes, Mux(io.arrived.valid, from.packet.lenBytes, first.lenBytes))
  val behind = Reg(UInt(Scheduler.DeficitBits.W))
  left := Mux(alone, Delay(io.pushedDeficit - io.pushed.bits.lenBytes), behind)
  behind := Mux(io.keep, left - ofSecond.packet.lenBytes, deficit - length)
  val asksBehind = fetched || comesHere
  io.ask.valid := Mux(asksBehind, ofSecond.more, standing.more)
  io.ask.bits := Mux(asksBehind, ofSecond.packet.name, standing.packet.name)
  answers := !io.pop && io.ask.valid && Mux(io.keep, fetched, !io.known)

  // Or the packet that is appended to a queue of length one.
  val joinsIt = io.joins.valid && io.first.valid && !now.more
  stands := !io.pop && ((io.known && !io.keep) || joinsIt)
  second := io.coming
  second.more := io.coming.more || io.joins.valid
  when(joinsIt) {
    second.packet := io.joins.bits
    second.more := false.B
    second.covered := !Arithmetic.passTogether(length, io.joins.bits.lenBytes, unlessStrict(deficit, io.inRound))
  }

  val shown = io.known && io.first.valid
  assert(!shown || now.more, "a second packet is known of a queue that holds one")
  assert(
    !io.keep || io.known || (io.ask.valid && io.ask.bits === standing.packet.name),
    "nobody asks who comes first"
  )
  val isNext = RegNext(io.ask.valid && io.ask.bits === now.packet.name && !io.keep && !io.pop, false.B) && io.same
  assert(!(isNext && shown) || io.coming.packet.asUInt === io.successor.asUInt, "another packet counts as the second")
}
