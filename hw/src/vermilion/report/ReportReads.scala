package vermilion.report

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats.CellBytes
import vermilion.lane.LaneParams
import vermilion.stream.Chain

/** Shares the buffer's read port between the readers of packets and the reports, which read in cycles that the readers do not need.
  *
  * With one egress a stalled reader reads its cell again in every cycle, so that the port holds it. In a cycle in which a report reads, a register holds the cell instead. So the readers
  * see in every cycle what they would see without reports. With several egresses a reader uses only what it has read in the cycle before, and nothing is held.
  */
class ReportReads(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val spare = Input(Bool()) // the readers do not need this cycle
    val wanted = Input(UInt(p.cellBits.W)) // the address of the readers
    val request = Flipped(Valid(UInt(p.cellBits.W))) // of the reports
    val address = Output(UInt(p.cellBits.W)) // of the buffer
    val data = Input(UInt((CellBytes * 8).W)) // one cycle later
    val link = Input(UInt(p.cellBits.W))
    val shownData = Output(UInt((CellBytes * 8).W)) // to the readers
    val shownLink = Output(UInt(p.cellBits.W))
  })
  private val takes = io.request.valid && io.spare
  io.address := Mux(takes, io.request.bits, io.wanted)
  if (p.egresses == 1) {
    val taken = RegNext(takes, false.B)
    io.shownData := Mux(taken, Delay(io.shownData), io.data)
    io.shownLink := Mux(taken, Delay(io.shownLink), io.link)
  } else {
    io.shownData := io.data
    io.shownLink := io.link
  }
}

/** Chains of cells that return to the free list later. `busy` is high while there are any. */
class HeldChains(p: LaneParams, cycles: Int) extends Module {
  require(cycles >= 2, s"cycles is $cycles; legal are 2 and more")
  val io = IO(new Bundle {
    val in = Flipped(Valid(new Chain(p)))
    val out = Valid(new Chain(p))
    val busy = Output(Bool())
  })
  io.out.bits := Delay(io.in.bits, cycles)
  private val valid = RegInit(0.U(cycles.W))
  valid := Cat(valid(cycles - 2, 0), io.in.valid)
  io.out.valid := valid(cycles - 1)
  private val left = RegInit(0.U(log2Ceil(cycles + 1).W))
  when(io.in.valid) { left := cycles.U }.elsewhen(left =/= 0.U) { left := left - 1.U }
  io.busy := left =/= 0.U
}
