package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** Parameters that define the area of the victim search.
  *
  * @param queues       number of queues
  * @param cells        cells in the shared buffer, a power of two; the head cell is the packet's name
  * @param indexed      queues 0 to indexed-1 can hold push-outs; each needs 4 x 2^distanceBits list heads in RAM, four times (two writers, two readers)
  * @param places       most packets of a queue that the scheduler holds, never victims; a power of two, below four only in proofs ([[HeadPlaces]])
  * @param distanceBits bits of a distance; below [[Distance.Bits]] only in proofs: no logic brings greater distances into range
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

  /** The parameters of a lane. In a lane without the search only the types matter. */
  def of(p: LaneParams): VictimParams = VictimParams(p.queues, p.cells, p.victims.max(1), places = p.headPlaces)
}

/** The order of victims: the smallest distance first, then the worst class. Ranks compare by `distance`, then by `slot` = 2 - class.
  * The class is the packet's colour if the queue selects victims by colour, otherwise 0 for all.
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

/** The name of a list: it holds a queue's packets of one rank. */
class ListName(v: VictimParams) extends Bundle {
  val queue = UInt(log2Ceil(v.indexed).max(1).W)
  val rank = new Rank(v)

  def is(other: ListName): Bool = asUInt === other.asUInt
}

/** A packet in a body, with the data that it needs when it becomes head of line. */
class QueuedRef(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val rank = new Rank(v)
  val listed = Bool() // it is in its list by distance
  val marked = Bool() // it was a victim and must be marked CE; it is in no list then
}

/** A packet in a list by distance. */
class ListedRef(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val ect = Bool() // may be marked instead of dropped
}

object Action {
  val Admit = 0 // goes into its queue
  val Refuse = 1 // lost before the victim search
  val PushOut = 2 // the arriving packet or a packet of its queue is dropped or marked
  val Bits = 2
}

/** The fields of an arriving packet that decide which packets may be victims in its place. */
class Sought(v: VictimParams) extends Bundle {
  val queue = UInt(v.queueBits.W)
  val lenBytes = UInt(PktLenBits.W)
  val colour = UInt(2.W)
  val distance = UInt(v.distanceBits.W)
  val byColour = Bool() // setting of the queue: only packets of this colour or a worse one may be victims
  val last = UInt(
    TailWindow.CountBits.W
  ) // tail-drop form: only so many of the last packets may be victims; 0: RED form, all may be victims

  def rank: Rank = {
    val rank = Wire(new Rank(v))
    rank.distance := distance
    rank.slot := Mux(byColour, (Colour.Count - 1).U - worst, (Colour.Count - 1).U)
    rank
  }

  /** The rank slots of the packets that may be victims in its place. */
  def mayLose: Vec[Bool] = VecInit(
    Seq.tabulate(Colour.Count)(slot => !byColour || slot.U <= (Colour.Count - 1).U - worst)
  )

  def isIndexed: Bool = if (v.indexed == v.queues) true.B else queue < v.indexed.U

  /** The fields of [[Sought]] alone. */
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

/** An arriving packet with the decision of the policy. */
class Arrival(v: VictimParams) extends Sought(v) {
  val cell = UInt(v.cellBits.W) // its head cell; has no meaning without cells
  val cells = UInt(v.chainBits.W) // 0: it holds none; such a packet can only be refused
  val ect = Bool() // may be marked instead of dropped
  val action = UInt(Action.Bits.W)
  val mayMark = Bool() // setting of the queue: a victim is marked if it is ECT
  val asLong = Bool() // tail-drop form: victims are only packets not shorter than this one
}

/** The result for an arriving packet, and for its victim. */
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
