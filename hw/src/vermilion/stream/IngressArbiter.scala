package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.classify.RulePorts
import vermilion.lane.LaneParams
import vermilion.parse.{FrameHeads, TtlOptionTypes}

/** Shares one free list, one write port, one parser and one policy pipeline among the ingresses of a lane.
  *
  * Inputs that cannot be stalled have priority over those that can. Within each group, a round-robin arbiter grants only inputs with a request.
  * So inputs that can be stalled wait, without limit if the others use every cycle.
  *
  * One grant gives a cell both the write port and the parser ([[vermilion.parse.FrameHeads]]). A cell that is not stored, because no cell was free, uses the grant
  * for the parser only. A frame's descriptor consists of the ingress's frame end and the headers.
  *
  * Cells pass in the same cycle. Cells of different inputs interleave freely, because links are explicit. The arbiter selects a descriptor while
  * its headers are written to their store. It outputs the descriptor one cycle later, with the headers read from the store. Two selected
  * descriptors can wait here. If more must wait, for example during commits, ends wait in their ingress and headers in the store.
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
    val rules = Option.when(p.rules > 0)(new RulePorts(p.ruleBits))
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

  /** A request with the number of its input. */
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

  // Cells: to the buffer and to the parser.
  private val cell = join(io.inputs.zipWithIndex.map { case (each, i) => numbered(each.cell, i) })
  cell.ready := true.B
  io.write.valid := cell.valid && cell.bits.value.stored
  io.write.bits := cell.bits.value.write
  private val heads = Module(new FrameHeads(p.inputs, Ingress.DescriptorDepth, p.rules, p.ofOneEgress.queueBits))
  heads.io.types := io.types
  heads.io.cell.valid := cell.valid
  heads.io.cell.bits.input := cell.bits.input
  heads.io.cell.bits.data := cell.bits.value.write.data
  heads.io.cell.bits.first := cell.bits.value.first
  heads.io.cell.bits.endsHead := cell.bits.value.endsHead
  heads.io.cell.bits.bytes := cell.bits.value.headBytes
  heads.io.cell.bits.start := cell.bits.value.start

  // A descriptor is selected when its headers are available, or will never be. Most builds parse every frame and need no multiplexer here.
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
  // Two can wait, the first always in the same register: its place addresses the headers, which are hashed in the same cycle.
  private val foremost, second = Reg(new Chosen)
  private val held = RegInit(0.U(2.W))
  private val choice = Wire(new Chosen)
  choice.end := end.bits
  choice.place := heads.io.place
  when(end.fire) { second := choice }
  when(held === 0.U || io.descriptor.ready) { foremost := Mux(held === IngressArbiter.Chosen.U, second, choice) }
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
  for (((to, from), counted) <- io.descriptor.bits.rule.zip(heads.choice).zip(heads.counted)) {
    heads.host.get <> io.rules.get
    to := from
    when(!parsed(descriptor.value)) {
      to := 0.U.asTypeOf(to)
      to.action.dscp.bits := notIp.dscp
    }
    // One cycle later, so that the counters are not in the path of the descriptor.
    counted.valid := RegNext(
      io.descriptor.fire && to.hit && !descriptor.value.bad && !descriptor.value.noBuffer,
      false.B
    )
    counted.bits.rule := RegNext(to.rule)
    counted.bits.lenBytes := RegNext(descriptor.value.lenBytes)
  }
  for ((each, i) <- io.inputs.zipWithIndex) each.descriptorTaken := io.descriptor.fire && descriptor.input === i.U

  // Grants the next free cell to an input.
  private val requests = io.inputs.map { each =>
    val ask = Wire(Decoupled(Bool()))
    ask.valid := each.alloc.ready
    ask.bits := false.B
    each.alloc.valid := ask.fire
    each.alloc.bits := io.alloc.bits
    each.cellsLeft := io.alloc.valid
    ask
  }
  private val granted = join(requests)
  granted.ready := io.alloc.valid
  io.alloc.ready := granted.valid
}

object IngressArbiter {

  /** Selected descriptors that can wait for a slot of the policy pipeline: one register each. */
  val Chosen = 2
}
