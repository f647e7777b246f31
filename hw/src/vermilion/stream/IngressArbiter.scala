package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams

/** Joins the ingresses of a lane: one free list, one write port, one policy pipeline.
  *
  * Inputs that cannot be stalled go before those that can; within each of the two groups turns go round robin, only to an input that asks.
  * So what can wait waits, without end if the others leave no clock free.
  *
  * Combinational, so a meta that its ingress gives after its last write still comes after it here. Cells of different inputs interleave
  * freely; links are explicit. With one input this is wires.
  */
class IngressArbiter(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val inputs = Vec(
      p.inputs,
      new Bundle {
        val alloc = Decoupled(UInt(p.cellBits.W))
        val cellsLeft = Output(Bool())
        val write = Flipped(Decoupled(new CellWrite(p)))
        val meta = Flipped(Decoupled(new PacketMeta(p)))
      }
    )
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val write = Decoupled(new CellWrite(p))
    val meta = Decoupled(new PacketMeta(p))
  })

  private def roundRobin[T <: Data](asks: Seq[DecoupledIO[T]]): DecoupledIO[T] =
    if (asks.size == 1) asks.head
    else {
      val arbiter = Module(new RRArbiter(chiselTypeOf(asks.head.bits), asks.size))
      arbiter.io.in.zip(asks).foreach { case (to, from) => to <> from }
      arbiter.io.out
    }

  private def join[T <: Data](asks: Seq[DecoupledIO[T]]): DecoupledIO[T] = {
    val (canWait, cannotWait) = asks.zip(p.stallable).partition(_._2)
    val groups = Seq(cannotWait, canWait).filter(_.nonEmpty).map(group => roundRobin(group.map(_._1)))
    if (groups.size == 1) groups.head
    else {
      val first = Module(new Arbiter(chiselTypeOf(asks.head.bits), groups.size))
      first.io.in.zip(groups).foreach { case (to, from) => to <> from }
      first.io.out
    }
  }

  io.write <> join(io.inputs.map(_.write))
  io.meta <> join(io.inputs.map(_.meta))

  // Who takes the next free cell.
  private val turns = io.inputs.map { each =>
    val ask = Wire(Decoupled(Bool()))
    ask.valid := each.alloc.ready
    ask.bits := false.B
    each.alloc.valid := ask.fire
    each.alloc.bits := io.alloc.bits
    each.cellsLeft := io.alloc.valid
    ask
  }
  private val turn = join(turns)
  turn.ready := io.alloc.valid
  io.alloc.ready := turn.valid
}
