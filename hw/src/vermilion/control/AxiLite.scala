package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.stream.HeldReset

/** Data and byte strobes of a write. */
class AxiLiteWriteData extends Bundle {
  val data = UInt(32.W)
  val strb = UInt(4.W)
}

/** Data and response of a read. */
class AxiLiteReadData extends Bundle {
  val data = UInt(32.W)
  val resp = UInt(2.W)
}

/** AXI4-Lite with 32 data bits, from the slave's side; `Flipped` for a master. It has no protection bits, because nothing uses them. */
class AxiLite(val addressBits: Int) extends Bundle {
  val aw = Flipped(Decoupled(UInt(addressBits.W)))
  val w = Flipped(Decoupled(new AxiLiteWriteData))
  val b = Decoupled(UInt(2.W))
  val ar = Flipped(Decoupled(UInt(addressBits.W)))
  val r = Decoupled(new AxiLiteReadData)

  /** Connects this slave to a bus. While `held` is high, no transfer passes. */
  def takeUnless(held: Bool, bus: AxiLite): Unit = {
    aw <> HeldReset.gate(bus.aw, held)
    w <> HeldReset.gate(bus.w, held)
    ar <> HeldReset.gate(bus.ar, held)
    bus.b <> HeldReset.gate(b, held)
    bus.r <> HeldReset.gate(r, held)
  }
}

/** A register write that has arrived. It is valid for one cycle, with its strobes as a bit mask. */
class RegisterWrite(addressBits: Int) extends Bundle {
  val address = UInt(addressBits.W)
  val data = UInt(32.W)
  val mask = UInt(32.W)
}

/** Converts AXI4-Lite to register accesses, at most one write and one read per cycle.
  *
  * Address and data of a write may arrive in any order and at any distance; each waits for the other. `hold` delays writes,
  * and so their answers. A write without strobes is answered, but does not appear on `write`. All answers are OKAY.
  * `readData` belongs to the `readAddress` of two cycles before: time for one RAM and one register. Reads and writes do not
  * wait for each other. Addresses select words: their lowest two bits are ignored.
  */
class AxiLiteSlave(addressBits: Int) extends Module {
  val io = IO(new Bundle {
    val axi = new AxiLite(addressBits)
    val hold = Input(Bool())
    val write = Valid(new RegisterWrite(addressBits))
    val readAddress = Output(UInt(addressBits.W))
    val readData = Input(UInt(32.W))
  })
  private def wordOf(address: UInt) = Cat(address(addressBits - 1, 2), 0.U(2.W))

  // -- writes --
  private val aw = Queue(io.axi.aw, 1)
  private val w = Queue(io.axi.w, 1)
  private val answered = RegInit(true.B) // no answer is pending
  private val doWrite = aw.valid && w.valid && answered && !io.hold
  aw.ready := doWrite
  w.ready := doWrite
  io.axi.b.valid := !answered
  io.axi.b.bits := 0.U
  when(doWrite) { answered := false.B }.elsewhen(io.axi.b.fire) { answered := true.B }
  io.write.valid := doWrite && w.bits.strb.orR
  io.write.bits.address := wordOf(aw.bits)
  io.write.bits.data := w.bits.data
  io.write.bits.mask := FillInterleaved(8, w.bits.strb)

  // -- reads: address, two cycles, answer --
  private object State extends ChiselEnum { val Idle, Lookup, Take, Answer = Value }
  private val state = RegInit(State.Idle)
  private val address = RegEnable(wordOf(io.axi.ar.bits), io.axi.ar.fire)
  private val data = RegEnable(io.readData, state === State.Answer && RegNext(state) =/= State.Answer)
  io.readAddress := address
  io.axi.ar.ready := state === State.Idle
  io.axi.r.valid := false.B
  io.axi.r.bits.data := data
  io.axi.r.bits.resp := 0.U
  switch(state) {
    is(State.Idle) { when(io.axi.ar.valid) { state := State.Lookup } }
    is(State.Lookup) { state := State.Take }
    is(State.Take) { state := State.Answer }
    is(State.Answer) {
      io.axi.r.valid := RegNext(state) === State.Answer
      when(io.axi.r.fire) { state := State.Idle }
    }
  }
}
