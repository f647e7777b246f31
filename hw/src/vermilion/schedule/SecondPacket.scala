package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.lane.LaneParams
import vermilion.queue.PacketRef

/** A packet out of the queue manager's RAM, and what a choice asks of it. */
class ComingPacket(p: LaneParams) extends Bundle {
  val packet = new PacketRef(p)
  val more = Bool() // another stands behind it
  val covered = Bool() // by the deficit of its queue; in a strict level always
}

/** A queue that comes first out of RAM: its first packet, its newest, and the one before that. */
class ArrivedQueue(p: LaneParams) extends Bundle {
  val packet, newest = new PacketRef(p)
  val newestBefore = UInt(p.nameBits.W)
  val more = Bool() // the first is not the newest
  val deficit = UInt(Scheduler.DeficitBits.W)
}

/** The packet behind the first of the list that is served, fetched before the first is taken.
  *
  * The queue manager's RAM answers a clock after it is asked, and a choice has no time for what comes out of it. So the successor of the packet that is
  * next to be first is asked for in every clock: of the second, if it is `known`, else of the first. A second that is not taken with the clock in which it
  * comes out of RAM stands in a register. Whoever is kept with a second known may send in the next clock, and so on, a packet a clock; behind a `keep`
  * without one, as where a queue has just come first, its packet comes out of RAM in the next clock (`comes`), in which nothing is served.
  * While no queue stands in any list it is that of the queue that joins one. A packet that joins behind a first that is alone is the second.
  * Of a queue that comes first with two packets, the second is its newest, of which is known which one it stands behind.
  *
  * A second belongs to the list that was served in the clock before; where another is served now (`same` is low) nothing is known.
  */
class SecondPacket(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val first = Flipped(Valid(new PacketRef(p))) // but where it comes out of RAM
    val more = Input(Bool()) // another stands behind it
    // Whether the packet that comes, and the first, stand in the round; else they are covered whatever their length.
    val comesInRound, inRound = Input(Bool())
    val deficit = Input(
      UInt(Scheduler.DeficitBits.W)
    ) // of the first, but where it comes out of RAM; without its packet behind a keep
    val same = Input(Bool()) // the list of the clock before is served
    val none = Input(Bool()) // no list holds a queue
    val pushed = Flipped(Valid(new PacketRef(p))) // of a queue that joins a list
    val pushedDeficit = Input(UInt(Scheduler.DeficitBits.W))
    val pushedMore = Input(Bool()) // another stands behind it
    val arrived = Flipped(Valid(new ArrivedQueue(p))) // out of RAM comes the first
    val keep = Input(Bool()) // the first packet is taken, its queue stays
    val pop = Input(Bool()) // its queue goes
    val joins = Flipped(Valid(new PacketRef(p))) // behind others in its queue
    val ask = Valid(UInt(p.nameBits.W)) // the packet whose successor is wanted in the next clock, if it has one
    val successor = Input(new PacketRef(p))
    val newestServed = Input(UInt(p.nameBits.W)) // its queue's newest packet
    val known = Output(Bool()) // `coming` is the second
    val comes = Output(Bool()) // `coming` is the first, behind a keep
    val coming = Output(new ComingPacket(p))
  })

  private val comes = RegNext(io.keep && !io.known, false.B)
  private val answer = Wire(new ComingPacket(p))
  answer.packet := io.successor
  answer.more := io.successor.name =/= io.newestServed
  private val first = io.first.bits
  private def unlessStrict(deficit: UInt, round: Bool): UInt = deficit | Fill(Scheduler.DeficitBits, !round)
  // The deficit behind the first, but where it is the first itself that comes. Means nothing if it does not cover that.
  private val left = WireDefault(UInt(Scheduler.DeficitBits.W), io.deficit)
  answer.covered := unlessStrict(Mux(comes, io.deficit, left), io.comesInRound) >= io.successor.lenBytes
  io.comes := comes

  val stands = RegInit(false.B)
  val second = Reg(new ComingPacket(p))
  val answers = RegInit(false.B) // in this clock, with the second
  val alone = RegNext(io.none, false.B) // the first, if there is one, has joined in the clock before
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

  // Who is first in this clock, whatever it comes from. What is known early chooses; what comes out of RAM meets one choice at the end.
  val standing = Wire(new ComingPacket(p)) // not out of the queue manager's RAM
  standing.covered := DontCare
  when(io.arrived.valid) {
    standing.packet := from.packet
    standing.more := from.more
  }.elsewhen(io.none) { // but from the next clock on
    standing.packet := io.pushed.bits
    standing.more := io.pushed.valid && io.pushedMore
  }.otherwise {
    standing.packet := first
    standing.more := io.first.valid && io.more
  }
  val comesHere = comes && io.same
  val now = Mux(comesHere, answer, standing)
  val deficit = Mux(io.arrived.valid, from.deficit, io.deficit)

  // The successor of who is first, or of the second. Where two packets are all, nothing is behind the second.
  val ofSecond = Mux(stands, second, answer)
  val length = Mux(comesHere, answer.packet.lenBytes, Mux(io.arrived.valid, from.packet.lenBytes, first.lenBytes))
  val behind = Reg(UInt(Scheduler.DeficitBits.W))
  left := Mux(alone, Delay(io.pushedDeficit - io.pushed.bits.lenBytes), behind)
  behind := Mux(io.keep, left - ofSecond.packet.lenBytes, deficit - length)
  val asksBehind = fetched || comesHere
  io.ask.valid := Mux(asksBehind, ofSecond.more, standing.more)
  io.ask.bits := Mux(asksBehind, ofSecond.packet.name, standing.packet.name)
  answers := !io.pop && io.ask.valid && Mux(io.keep, fetched, !io.known)

  // Or who joins behind the only one.
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
