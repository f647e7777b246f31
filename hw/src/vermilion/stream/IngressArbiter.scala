package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.parse.{FrameHeads, TtlOptionTypes}

/** Joins the ingresses of a lane: one free list, one write port, one parser, one policy pipeline.
  *
  * Inputs that cannot be stalled go before those that can; within each of the two groups turns go round robin, only to an input that asks.
  * So what can wait waits, without end if the others leave no clock free.
  *
  * A cell's turn is one at the write port and at the parser ([[FrameHeads]]); one that is not stored, because no cell was free, has its turn for
  * the parser alone. A frame's descriptor is its ingress's word of its end, joined by its headers.
  *
  * Cells pass in the same clock; those of different inputs interleave freely, links are explicit. A descriptor is chosen while its headers are being
  * written to their store, and comes out a clock later, read from there. Two that are chosen can wait here; where more must wait, as behind
  * commits, ends wait in their ingress and headers in the store.
  */
class IngressArbiter(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val inputs = Vec(
      p.inputs,
      new Bundle {
        val alloc = Decoupled(UInt(p.cellBits.W))
        val cellsLeft = Output(Bool())
        val cell = Flipped(Decoupled(new IngressCell(p)))
        val end = Flipped(Decoupled(new FrameEnd(p)))
        val descriptorTaken = Output(Bool())
      }
    )
    val types = Input(new TtlOptionTypes)
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val write = Valid(new CellWrite(p))
    val descriptor = Decoupled(new PacketDescriptor(p))
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

  /** An ask with the number of its input. */
  private class Numbered[T <: Data](what: T) extends Bundle {
    val input = UInt(p.inputBits.W)
    val value = what.cloneType
  }
  private def numbered[T <: Data](ask: DecoupledIO[T], input: Int, may: Bool = true.B): DecoupledIO[Numbered[T]] = {
    val out = Wire(Decoupled(new Numbered(chiselTypeOf(ask.bits))))
    out.valid := ask.valid && may
    out.bits.input := input.U
    out.bits.value := ask.bits
    ask.ready := out.ready && may
    out
  }

  // Cells: to the buffer and past the parser.
  private val cell = join(io.inputs.zipWithIndex.map { case (each, i) => numbered(each.cell, i) })
  cell.ready := true.B
  io.write.valid := cell.valid && cell.bits.value.stored
  io.write.bits := cell.bits.value.write
  private val heads = Module(new FrameHeads(p.inputs, Ingress.DescriptorDepth))
  heads.io.types := io.types
  heads.io.cell.valid := cell.valid
  heads.io.cell.bits.input := cell.bits.input
  heads.io.cell.bits.data := cell.bits.value.write.data
  heads.io.cell.bits.first := cell.bits.value.first
  heads.io.cell.bits.endsHead := cell.bits.value.endsHead
  heads.io.cell.bits.bytes := cell.bits.value.headBytes
  heads.io.cell.bits.start := cell.bits.value.start

  // Metas: where the headers are there, too. Most builds parse every frame's, and need no choice.
  private val mayMiss = (0 until p.inputs).exists(Ingress.mayMissHead(p, _))
  private def parsed(end: FrameEnd): Bool = if (mayMiss) end.parsed else true.B
  private val end = join(io.inputs.zipWithIndex.map { case (each, i) =>
    numbered(each.end, i, heads.io.waiting(i) || !parsed(each.end.bits))
  })
  private val notIp = WireDefault(0.U.asTypeOf(new Headers))
  notIp.l3Offset := 14.U
  private class Chosen extends Bundle {
    val end = new Numbered(new FrameEnd(p))
    val place = chiselTypeOf(heads.io.place)
  }
  heads.io.input := end.bits.input
  heads.io.choose := end.fire && parsed(end.bits.value)
  // Two may wait, the foremost always in the same register: the headers are read from its place and hashed in the same clock.
  private val foremost, behind = Reg(new Chosen)
  private val held = RegInit(0.U(2.W))
  private val choice = Wire(new Chosen)
  choice.end := end.bits
  choice.place := heads.io.place
  when(end.fire) { behind := choice }
  when(held === 0.U || io.descriptor.ready) { foremost := Mux(held === IngressArbiter.Chosen.U, behind, choice) }
  when(end.fire =/= io.descriptor.fire) { held := Mux(end.fire, held + 1.U, held - 1.U) }
  end.ready := held =/= IngressArbiter.Chosen.U
  private val descriptor = foremost.end
  heads.io.read := foremost.place
  io.descriptor.valid := held =/= 0.U
  io.descriptor.bits.input := descriptor.input
  io.descriptor.bits.lenBytes := descriptor.value.lenBytes
  io.descriptor.bits.headCell := descriptor.value.headCell
  io.descriptor.bits.cells := descriptor.value.cells
  io.descriptor.bits.bad := descriptor.value.bad
  io.descriptor.bits.noBuffer := descriptor.value.noBuffer
  io.descriptor.bits.user := descriptor.value.user
  io.descriptor.bits.headers := Mux(parsed(descriptor.value), heads.io.headers, notIp)
  for ((each, i) <- io.inputs.zipWithIndex) each.descriptorTaken := io.descriptor.fire && descriptor.input === i.U

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

object IngressArbiter {

  /** Metas that are chosen and may wait for a slot of the policy pipeline: a register each. */
  val Chosen = 2
}
