package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** What decides the area of the victim search.
  *
  * @param queues       number of queues
  * @param cells        cells in the shared buffer, a power of two; a packet is named by its head cell
  * @param indexed      queues 0 to indexed-1 can hold push-outs; each costs 4 x 2^distanceBits list heads in RAM, four times over (two writers, two readers)
  * @param places       packets of a queue that the scheduler holds at most, which are no victims; a power of two, fewer than four for proofs alone ([[HeadPlaces]])
  * @param distanceBits bits of a distance; fewer than [[Distance.Bits]] for proofs alone: nothing brings greater distances into range
  */
case class VictimParams(queues: Int, cells: Int, indexed: Int, distanceBits: Int = 6, places: Int = 4) {
  require(queues >= 2, s"queues is $queues; legal are 2 and more")
  require(cells >= 4 && (cells & (cells - 1)) == 0, s"cells is $cells; legal are powers of two from 4")
  require(indexed >= 1 && indexed <= queues, s"indexed is $indexed; legal are 1 to $queues")
  require(distanceBits >= 2 && distanceBits <= 6, s"distanceBits is $distanceBits; legal are 2 to 6")

  require(
    places >= 2 && isPow2(places) && places <= cells,
    s"places is $places; legal are powers of two from 2 to the $cells cells"
  )

  val queueBits: Int = log2Ceil(queues)
  val cellBits: Int = log2Ceil(cells)
  val distances: Int = 1 << distanceBits
  val chainBits: Int = log2Ceil(16320 / CellBytes + 2)

  /** Bits of a bitmap: one for each distance and class. */
  val bitmapBits: Int = Colour.Count * distances

  val listBits: Int = log2Ceil(indexed).max(1) + distanceBits + 2
}

object VictimParams {

  /** Those of a lane; of one without the search only the types count. */
  def of(p: LaneParams): VictimParams = VictimParams(p.queues, p.cells, p.victims.max(1), places = p.headPlaces)
}

/** Who goes first: the smallest distance, then the worst class. Rank order is `distance` first, then `slot` = 2 - class.
  * The class is the packet's colour where victims are chosen by colour, else 0 for all.
  */
class Rank(v: VictimParams) extends Bundle {
  val distance = UInt(v.distanceBits.W)
  val slot = UInt(2.W)

  /** Its bit in a bitmap, one hot: bit 3 distance + slot. */
  def oneHot: UInt = {
    val ofDistance = UIntToOH(distance, v.distances)
    val ofSlot = UIntToOH(slot, Colour.Count)
    VecInit(Seq.tabulate(v.bitmapBits)(i => ofDistance(i / Colour.Count) && ofSlot(i % Colour.Count))).asUInt
  }
}

/** Names a list of packets: a queue's packets of one rank. */
class ListName(v: VictimParams) extends Bundle {
  val queue = UInt(log2Ceil(v.indexed).max(1).W)
  val rank = new Rank(v)

  def is(other: ListName): Bool = asUInt === other.asUInt
}

/** A packet in a body, with what must be known of it when it goes to the head. */
class QueuedRef(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val rank = new Rank(v)
  val listed = Bool() // it stands in its list by distance
  val marked = Bool() // it was a victim and must be marked CE; it stands in no list then
}

/** A packet as lists by distance hold it. */
class ListedRef(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val ect = Bool() // may be marked instead of dropped
}

object Action {
  val Admit = 0 // goes into its queue
  val Refuse = 1 // lost before it came here
  val PushOut = 2 // it or a packet of its queue must go
  val Bits = 2
}

/** What of an arriving packet decides who may go in its stead. */
class Sought(v: VictimParams) extends Bundle {
  val queue = UInt(v.queueBits.W)
  val lenBytes = UInt(PktLenBits.W)
  val colour = UInt(2.W)
  val distance = UInt(v.distanceBits.W)
  val byColour = Bool() // the queue's switch: only packets of this colour or a worse one may be victims
  val last = UInt(
    TailWindow.CountBits.W
  ) // tail-drop form: only so many of the last packets may lose; 0: RED form, all may

  def rank: Rank = {
    val rank = Wire(new Rank(v))
    rank.distance := distance
    rank.slot := Mux(byColour, (Colour.Count - 1).U - worst, (Colour.Count - 1).U)
    rank
  }

  /** Rank slots whose packets may go in its stead. */
  def mayLose: Vec[Bool] = VecInit(
    Seq.tabulate(Colour.Count)(slot => !byColour || slot.U <= (Colour.Count - 1).U - worst)
  )

  def isIndexed: Bool = if (v.indexed == v.queues) true.B else queue < v.indexed.U

  /** That alone. */
  def sought: Sought = {
    val part = Wire(new Sought(v))
    part.queue := queue
    part.lenBytes := lenBytes
    part.colour := colour
    part.distance := distance
    part.byColour := byColour
    part.last := last
    part
  }

  private def worst = Mux(colour > Colour.Red.U, Colour.Red.U, colour)
}

/** An arriving packet with what policy has decided. */
class Arrival(v: VictimParams) extends Sought(v) {
  val cell = UInt(v.cellBits.W) // its head cell; means nothing without cells
  val cells = UInt(v.chainBits.W) // 0: it holds none; such a packet can only be refused
  val ect = Bool() // may be marked instead of dropped
  val action = UInt(Action.Bits.W)
  val mayMark = Bool() // the queue's switch: a victim is marked if ECT
  val asLong = Bool() // tail-drop form: and only those that are not shorter than this packet
}

/** What became of an arriving packet, and of the one that went in its stead. */
class Outcome(v: VictimParams) extends Bundle {
  val enqueued = Bool()
  val marked = Bool() // enqueued, and must be marked CE: it lost a push-out
  val stale = Bool() // it lost, or was marked, because every packet that the search saw had already left
  val evicted = Bool() // `victim` was removed
  val victimMarked = Bool() // `victim` stays and is marked CE
  val victim = new Victim(v)
}

class Victim(v: VictimParams) extends Bundle {
  val queue = UInt(v.queueBits.W)
  val cell = UInt(v.cellBits.W)
  val lenBytes = UInt(PktLenBits.W)
  val colour = UInt(2.W)
  val distance = UInt(v.distanceBits.W)
}
