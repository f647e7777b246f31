package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams

/** Joins the ingresses of a lane: one free list, one write port, one policy pipeline, each shared round robin.
  *
  * Combinational, so a meta that its ingress gives after its last write still comes after it here. Cells of different inputs interleave
  * freely; links are explicit. A turn goes only to an input that asks, so no turn is wasted: with one input this is wires.
  */
class IngressArbiter(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val inputs = Vec(
      p.inputs,
      new Bundle {
        val alloc = Decoupled(UInt(p.cellBits.W))
        val write = Flipped(Decoupled(new CellWrite(p)))
        val meta = Flipped(Decoupled(new PacketMeta(p)))
      }
    )
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val write = Decoupled(new CellWrite(p))
    val meta = Decoupled(new PacketMeta(p))
  })

  if (p.inputs == 1) {
    io.write <> io.inputs(0).write
    io.meta <> io.inputs(0).meta
    io.inputs(0).alloc <> io.alloc
  } else {
    val writes = Module(new RRArbiter(new CellWrite(p), p.inputs))
    val metas = Module(new RRArbiter(new PacketMeta(p), p.inputs))
    val turns = Module(new RRArbiter(Bool(), p.inputs)) // who takes the next free cell

    for ((each, i) <- io.inputs.zipWithIndex) {
      writes.io.in(i) <> each.write
      metas.io.in(i) <> each.meta
      turns.io.in(i).valid := each.alloc.ready
      turns.io.in(i).bits := false.B
      each.alloc.valid := turns.io.in(i).fire
      each.alloc.bits := io.alloc.bits
    }
    io.write <> writes.io.out
    io.meta <> metas.io.out
    turns.io.out.ready := io.alloc.valid
    io.alloc.ready := turns.io.out.valid
  }
}
