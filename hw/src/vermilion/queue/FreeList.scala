package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.stream.Chain

/** Hands out free cells, one per cycle, and takes chains of cells back, two per cycle.
  *
  * Chains come back from two sources that cannot wait: the policy (drops) and the packet reader (departures).
  * Each source has its own bank (`ChainBank`), so their pushes need no arbitration. Reads alternate between the banks.
  * A chain is walked through the cell buffer's link RAM (latency 1): the cell read in one cycle is the next cycle's address.
  * A chain of one cell needs no walk, and chains follow each other without an idle cycle.
  * No RAM is initialised after reset: a counter hands out cells 0, 1, .. cells-1 before the first freed chain is used.
  *
  * While the walk waits for room, it reads the same link again. This is safe: the cell that it handed out last is the newest of
  * four in the output queue. So it cannot be in use, and its link cannot be rewritten, before the walk continues.
  *
  * Latency: a freed single cell can be handed out again 4 cycles later. `freeCells` counts all cells that are not handed out.
  * It does not check which cells come back. An assertion checks that no more come back than were handed out.
  * In builds with `protect`: after a memory of the lane has failed, it hands out nothing until a reset.
  */
class FreeList(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val freedByPolicy = Flipped(Valid(new Chain(p)))
    val freedByReader = Flipped(Valid(new Chain(p)))
    val walk = new CellPort(p, p.cellBits)
    val cell = Decoupled(UInt(p.cellBits.W))
    val freeCells = Output(UInt((p.cellBits + 1).W))
  })

  private val guards = new Guards(p.protect)
  private val banks = Seq.fill(2)(Module(new ChainBank(p)))
  banks.zip(Seq(io.freedByPolicy, io.freedByReader)).foreach { case (bank, freed) =>
    bank.io.push := freed
    assert(!freed.valid || freed.bits.cells =/= 0.U, "an empty chain was freed")
  }

  // Chains between the banks and the walk. Three places cover the RAM's latency of one cycle.
  private val chains = Module(new Queue(new Chain(p), 3))
  private val poppedFrom = RegNext(VecInit(banks.map(_.io.pop)), VecInit(false.B, false.B))
  private val room = chains.io.count +& poppedFrom.asUInt.orR < 3.U
  private val preferSecond = RegInit(false.B)
  private val pickSecond = banks(1).io.available && (preferSecond || !banks(0).io.available)
  banks(0).io.pop := room && banks(0).io.available && !pickSecond
  banks(1).io.pop := room && pickSecond
  when(banks(0).io.pop || banks(1).io.pop) { preferSecond := !pickSecond }
  chains.io.enq.valid := poppedFrom.asUInt.orR
  chains.io.enq.bits := Mux(poppedFrom(1), banks(1).io.popped, banks(0).io.popped)
  assert(!chains.io.enq.valid || chains.io.enq.ready, "a popped chain found no place")

  private val ready = Module(new Queue(UInt(p.cellBits.W), 4))
  io.cell <> ready.io.deq
  when(guards.failed) {
    io.cell.valid := false.B
    ready.io.deq.ready := false.B
  }

  private val unused = RegInit(0.U((p.cellBits + 1).W)) // counts the cells handed out after reset
  private val allUsed = unused === p.cells.U
  private val remaining = RegInit(0.U(p.chainBits.W)) // cells of the present chain that are still to be handed out
  private val lastCell = RegInit(0.U(p.cellBits.W))
  private val walking = remaining =/= 0.U

  private val current = Mux(walking, io.walk.data, Mux(allUsed, chains.io.deq.bits.head, unused(p.cellBits - 1, 0)))
  private val offered = walking || !allUsed || chains.io.deq.valid
  private val advance = offered && ready.io.enq.ready
  ready.io.enq.valid := offered
  ready.io.enq.bits := current
  chains.io.deq.ready := !walking && allUsed && ready.io.enq.ready
  io.walk.address := Mux(advance, current, lastCell)
  io.walk.used := walking && advance
  when(advance) {
    lastCell := current
    when(walking) {
      remaining := remaining - 1.U
    }.elsewhen(allUsed) {
      remaining := chains.io.deq.bits.cells - 1.U
    }.otherwise {
      unused := unused + 1.U
    }
  }

  private val free = RegInit(p.cells.U((p.cellBits + 1).W))
  private def returned(freed: Valid[Chain]) = Mux(freed.valid, freed.bits.cells, 0.U)
  private val back = returned(io.freedByPolicy) +& returned(io.freedByReader)
  private val freeNext = free +& back - io.cell.fire.asUInt
  free := freeNext(p.cellBits, 0)
  io.freeCells := free
  assert(freeNext <= p.cells.U, "more cells were freed than handed out")

  val guard = guards.ports(banks.map(_.guard): _*)
}
