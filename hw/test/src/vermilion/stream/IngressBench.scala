package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams

/** All of a lane's ingresses behind their arbiter, as the lane has them. */
class IngressBench(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Vec(p.inputs, Flipped(Decoupled(new AxisBeat(p.dataBits))))
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val write = Decoupled(new CellWrite(p))
    val meta = Decoupled(new PacketMeta(p))
  })
  private val arbiter = Module(new IngressArbiter(p))
  for (i <- 0 until p.inputs) {
    val ingress = Module(new Ingress(p, i, canStall = p.inputs > 1))
    ingress.io.in <> io.in(i)
    ingress.io.alloc <> arbiter.io.inputs(i).alloc
    arbiter.io.inputs(i).write <> ingress.io.write
    arbiter.io.inputs(i).meta <> ingress.io.meta
  }
  arbiter.io.alloc <> io.alloc
  io.write <> arbiter.io.write
  io.meta <> arbiter.io.meta
}
