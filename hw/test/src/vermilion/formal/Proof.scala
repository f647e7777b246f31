package vermilion.formal

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.stream.AxisBeat
import vermilion.victim.PowerOn

/** The top of a proof. `checks` is a block with what stands round it: its `free` inputs are those that the solver chooses anew in every clock,
  * assumptions make legal ones of them, assertions are the properties. What is assumed stands in the head of each, and in docs/proofs/blocks.md.
  *
  * Reset lasts for the first clock; with `resets` it may come again in any later one.
  */
class Proof[T <: Module](checks: => T, resets: Boolean = false)(free: T => Data) extends RawModule {
  val clock = IO(Input(Clock()))
  private val power = Module(new PowerOn)
  power.clock := clock
  private val again = if (resets) IO(Input(Bool())).suggestName("again") else false.B
  withClockAndReset(clock, !power.running || again) {
    val inner = Module(checks)
    val inputs = IO(Input(chiselTypeOf(free(inner))))
    free(inner) := inputs
  }
}

/** A lane with fewer cells than a legal build has. Only proofs use it, of blocks that stand alone. */
class SmallLane(override val queues: Int, override val cells: Int, codel: Boolean = false, fq: Boolean = false)
    extends LaneParams(queues = 2, codel = codel, fq = fq) {
  override val queueBits: Int = log2Ceil(queues)
  override val cellBits: Int = log2Ceil(cells)
  override val chainBits: Int = log2Ceil(cells + 1)
}

/** The rules of ready and valid, as properties of an output and as an assumption for an input. */
object StreamRules {

  /** `valid` holds until `ready`, and what is offered stays the same until then. A reset ends both. */
  def keeps[T <: Data](name: String, port: ReadyValidIO[T]): Unit = {
    val waits = RegNext(port.valid && !port.ready, false.B)
    val before = RegNext(port.bits.asUInt)
    assert(!waits || port.valid, s"$name: valid falls before ready")
    assert(!waits || port.bits.asUInt === before, s"$name: what is offered changes while it waits")
  }

  /** `keep` is contiguous from lane 0 and never empty, and full but on the last beat. */
  def frames(name: String, port: ReadyValidIO[AxisBeat]): Unit = {
    val keep = port.bits.keep
    assert(!port.valid || (keep(0) && (keep & (keep +& 1.U)) === 0.U), s"$name: keep has a hole")
    assert(!port.valid || port.bits.last || keep.andR, s"$name: keep is not full before the last beat")
  }

  /** Drives an input by the same rules from free values. */
  def offer[T <: Data](port: DecoupledIO[T], valid: Bool, bits: T): Unit = {
    val waits = RegNext(port.valid && !port.ready, false.B)
    val before = RegNext(port.bits)
    port.valid := valid || waits
    port.bits := Mux(waits, before, bits)
  }
}

/** A queue as plain as can be, for what a block must give in order: the proof's side of it. */
class Expected[T <: Data](gen: T, depth: Int) {
  private val entries = Reg(Vec(depth, gen))
  val length: UInt = RegInit(0.U(log2Ceil(depth + 1).W))
  def empty: Bool = length === 0.U
  def first: T = entries(0)

  /** What is put in this clock can be taken in the next one. To be called once. */
  def move(put: Bool, entry: T, take: Bool): Unit = {
    val left = length - take
    for (i <- 0 until depth) {
      val behind = if (i + 1 < depth) entries(i + 1) else entries(i)
      entries(i) := Mux(put && left === i.U, entry, Mux(take, behind, entries(i)))
    }
    length := left + put
    assert(!put || left < depth.U, "more is on its way than the block has places for")
    assert(!take || !empty, "something comes out that never went in")
  }
}
