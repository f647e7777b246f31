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
  * The queue manager's RAM answers one cycle after a request, and the choice has no time
  * to use this answer. So in every cycle this module requests the successor of the packet that will be first next. That packet is
  * the present successor if it is `known`, otherwise the first. A successor that does not become first in the cycle in which it comes from RAM is
  * held in a register.
  *
  * If the successor is known at a `keep`, its queue may send in the next cycle, and so on, one packet per cycle. Otherwise, for example if the
  * queue has just become first, its packet comes from RAM in the next cycle (`comes`). Nothing is served in that cycle.
  * While all lists are empty, the request is for the queue that is inserted into one. A packet appended to a queue of length one is the successor.
  * For a queue that becomes first with two packets the successor is its newest packet. `newestBefore` gives that packet's predecessor.
  *
  * A successor belongs to the list that was served in the cycle before. If another list is served now (`same` is low), no successor is known.
  */
class SuccessorPrefetch(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val first = Flipped(Valid(new PacketRef(p))) // the first packet, unless it comes from RAM
    val more = Input(Bool()) // a successor is queued after it
    // Whether the packet that comes, and the first, are in the DRR list. Otherwise they are covered at any length.
    val comesInDrr, inDrr = Input(Bool())
    val deficit = Input(
      UInt(Scheduler.DeficitBits.W)
    ) // of the first, unless it comes from RAM; after a keep, less the packet that was taken
    // With two lists of deficits: of the first in the list of the packet that comes after a keep.
    val comesDeficit = Option.when(p.fq)(Input(UInt(Scheduler.DeficitBits.W)))
    val same = Input(Bool()) // the list of the cycle before is served
    val none = Input(Bool()) // no list holds a queue
    val pushed = Flipped(Valid(new PacketRef(p))) // of a queue that is inserted into a list
    val pushedDeficit = Input(UInt(Scheduler.DeficitBits.W))
    val pushedMore = Input(Bool()) // a successor is queued after it
    val arrived = Flipped(Valid(new ArrivedQueue(p))) // the first comes from RAM
    val keep = Input(Bool()) // the first packet is taken, its queue stays
    val pop = Input(Bool()) // its queue leaves
    val restored = Option.when(p.codel)(Input(Bool())) // its deficit changes, so the successor is asked for again
    val appended = Flipped(Valid(new PacketRef(p))) // a packet is appended to the first queue
    val ask = Valid(UInt(p.nameBits.W)) // the packet whose successor is wanted in the next cycle, if it has one
    val successor = Input(new PacketRef(p))
    val newestServed = Input(UInt(p.nameBits.W)) // its queue's newest packet
    val known = Output(Bool()) // `coming` is the successor
    val comes = Output(Bool()) // `coming` is the first, after a keep
    val coming = Output(new ComingPacket(p))
  })

  private val comes = RegNext(io.keep && !io.known, false.B)
  private val answer = Wire(new ComingPacket(p))
  answer.packet := io.successor
  answer.more := io.successor.name =/= io.newestServed
  private val first = io.first.bits
  private def unlessStrict(deficit: UInt, isDrr: Bool): UInt = deficit | Fill(Scheduler.DeficitBits, !isDrr)
  // The deficit after the first packet, unless the packet that comes is the first itself. It has no meaning if it does not cover the first.
  private val remaining = WireDefault(UInt(Scheduler.DeficitBits.W), io.deficit)
  answer.covered := unlessStrict(
    Mux(comes, io.comesDeficit.getOrElse(io.deficit), remaining),
    io.comesInDrr
  ) >= io.successor.lenBytes
  io.comes := comes

  val isHeld = RegInit(false.B)
  val held = Reg(new ComingPacket(p))
  val answers = RegInit(false.B) // the RAM's answer in this cycle is the successor
  val alone = RegNext(io.none, false.B) // the first, if there is one, was inserted in the cycle before
  val fetched = (isHeld || answers) && (io.same || alone) && io.first.valid
  val from = io.arrived.bits
  val ofTwo = Wire(new ComingPacket(p))
  ofTwo.packet := from.newest
  ofTwo.more := false.B
  ofTwo.covered := !Arithmetic.passTogether(
    from.packet.lenBytes,
    from.newest.lenBytes,
    unlessStrict(from.deficit, io.inDrr)
  )
  io.known := fetched || (io.arrived.valid && from.more && from.newestBefore === from.packet.name)
  io.coming := Mux(io.arrived.valid, ofTwo, Mux(isHeld, held, answer))

  // The first packet of this cycle, from any source. Early signals select it; the RAM output passes only one multiplexer, at the end.
  val present = Wire(new ComingPacket(p)) // not from the queue manager's RAM
  present.covered := DontCare
  when(io.arrived.valid) {
    present.packet := from.packet
    present.more := from.more
  }.elsewhen(io.none) { // but from the next cycle on
    present.packet := io.pushed.bits
    present.more := io.pushed.valid && io.pushedMore
  }.otherwise {
    present.packet := first
    present.more := io.first.valid && io.more
  }
  val comesHere = comes && io.same
  val now = Mux(comesHere, answer, present)
  val deficit = Mux(io.arrived.valid, from.deficit, io.deficit)

  // The packet whose successor is requested: the first, or its successor. In a queue of two packets, the successor has none.
  val successor = Mux(isHeld, held, answer)
  val length = Mux(comesHere, answer.packet.lenBytes, Mux(io.arrived.valid, from.packet.lenBytes, first.lenBytes))
  val deficitAfter = Reg(UInt(Scheduler.DeficitBits.W))
  remaining := Mux(alone, Delay(io.pushedDeficit - io.pushed.bits.lenBytes), deficitAfter)
  deficitAfter := Mux(io.keep, remaining - successor.packet.lenBytes, deficit - length)
  val asksAfter = fetched || comesHere
  io.ask.valid := Mux(asksAfter, successor.more, present.more)
  io.ask.bits := Mux(asksAfter, successor.packet.name, present.packet.name)
  private val restored = io.restored.getOrElse(false.B)
  answers := !io.pop && !restored && io.ask.valid && Mux(io.keep, fetched, !io.known)

  // Or the packet that is appended to a queue of length one.
  val appends = io.appended.valid && io.first.valid && !now.more
  isHeld := !io.pop && !restored && ((io.known && !io.keep) || appends)
  held := io.coming
  held.more := io.coming.more || io.appended.valid
  when(appends) {
    held.packet := io.appended.bits
    held.more := false.B
    held.covered := !Arithmetic.passTogether(length, io.appended.bits.lenBytes, unlessStrict(deficit, io.inDrr))
  }

  val shown = io.known && io.first.valid
  assert(!shown || now.more, "a successor is known of a queue that holds one packet")
  assert(
    !io.keep || io.known || (io.ask.valid && io.ask.bits === present.packet.name),
    "the packet that becomes first is not requested"
  )
  val isNext = RegNext(io.ask.valid && io.ask.bits === now.packet.name && !io.keep && !io.pop, false.B) && io.same
  assert(
    !(isNext && shown) || io.coming.packet.asUInt === io.successor.asUInt,
    "another packet is taken as the successor"
  )
}
