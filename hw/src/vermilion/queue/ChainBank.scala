package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.stream.Chain

/** A FIFO of freed chains that is never full: it has as many places as there are cells, and every chain holds at least one cell.
  *
  * RAM: cells x (cell, count), 1W 1R. A push is readable one cycle later. `popped` follows `pop` by one cycle.
  * `pop` is legal only with `available`.
  */
class ChainBank(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val push = Flipped(Valid(new Chain(p)))
    val available = Output(Bool())
    val pop = Input(Bool())
    val popped = Output(new Chain(p))
  })

  private val guards = new Guards(p.protect)
  private val memory = guards.unforwarded("memory", p.cells, new Chain(p))
  private val pushed = RegInit(0.U((p.cellBits + 1).W))
  private val taken = RegInit(0.U((p.cellBits + 1).W))

  memory.write(io.push.valid, pushed(p.cellBits - 1, 0), io.push.bits)
  when(io.push.valid) { pushed := pushed + 1.U }
  when(io.pop) { taken := taken + 1.U }
  io.available := pushed =/= taken
  io.popped := memory.check(taken(p.cellBits - 1, 0), RegNext(io.pop, false.B), io.pop)._1

  assert(!io.pop || io.available, "a chain was taken from an empty bank")
  assert(pushed - taken <= p.cells.U, "more chains are free than there are cells")

  val guard = guards.ports()
}
