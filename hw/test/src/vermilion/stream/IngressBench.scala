package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats.PktLenBits
import vermilion.lane.LaneParams

/** All of a lane's ingresses behind their arbiter, as the lane has them. */
class IngressBench(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Vec(p.inputs, Flipped(Decoupled(new AxisBeat(p.dataBits))))
    val running = Input(Bool())
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val write = Valid(new CellWrite(p))
    val descriptor = Decoupled(new PacketDescriptor(p))
    val lost = Output(Vec(p.inputs, Valid(UInt(PktLenBits.W))))
  })
  private val arbiter = Module(new IngressArbiter(p))
  for (i <- 0 until p.inputs) {
    val ingress = Module(new Ingress(p, i))
    ingress.io.in <> io.in(i)
    ingress.io.running := io.running
    ingress.io.alloc <> arbiter.io.inputs(i).alloc
    ingress.io.cellsLeft := arbiter.io.inputs(i).cellsLeft
    arbiter.io.inputs(i).cell <> ingress.io.cell
    arbiter.io.inputs(i).end <> ingress.io.end
    ingress.io.descriptorTaken := arbiter.io.inputs(i).descriptorTaken
    io.lost(i) := ingress.io.lost
  }
  arbiter.io.alloc <> io.alloc
  io.write := arbiter.io.write
  arbiter.io.types := 0.U.asTypeOf(chiselTypeOf(arbiter.io.types))
  io.descriptor <> arbiter.io.descriptor
}
