package vermilion.protect

import chisel3._
import chisel3.util._

/** What happened in a protected memory in this clock. */
class UpsetEvents extends Bundle {
  val corrected = Bool() // one bit of a word that was used was wrong, and was put right on its way
  val repaired = Bool() // the scrubber wrote such a word back: once an upset, unless it was overwritten before
  val uncorrectable = Bool() // a word that was used has more wrong bits than one: stop
  val beyondRepair = Bool() // the scrubber found such a word; it comes back to it in every walk
}

/** A RAM of one write and one read port whose words are codewords ([[Secded]]), corrected as they are read, and scrubbed.
  *
  * Read latency 1, and a read in the clock of a write gives the new data, as in `fixed/ForwardingRam`. What the data's user would have used
  * though it does not (a stale address, say) makes no event: `used` comes with the data. Path: RAM, syndrome (two levels of LUT at up to
  * 36 ones a row), one compare, one XOR, the choice of the forwarded word.
  *
  * Scrubber: it walks through all addresses and never stands in the way. It uses the write port only, which is a read port too in clocks without a
  * write: block RAMs have two ports that do both. Three clocks a word: read; decode; write back if one bit was wrong and nothing was written
  * meanwhile, else look at the word again. So an upset lives for 3 x depth clocks, and three for every write in that time, at the most;
  * longer if writes leave no two clocks in a row free. A word with two wrong bits is left as it is.
  *
  * After reset all words are written with zeros, in clocks without a write; until `ready` nothing but zeros may be written.
  *
  * What it does not do: find an upset of the registers behind the array, or of an address.
  */
class ScrubbedRam(depth: Int, dataBits: Int) extends Module {
  private val addressBits = log2Ceil(depth).max(1)
  val io = IO(new Bundle {
    val write = Flipped(Valid(new Bundle {
      val address = UInt(addressBits.W)
      val data = UInt(dataBits.W)
    }))
    val readAddress = Input(UInt(addressBits.W))
    val readData = Output(UInt(dataBits.W))
    val used = Input(Bool())
    val uncorrectable = Output(Bool()) // of readData, used or not
    val events = Output(new UpsetEvents)
    val ready = Output(Bool())
  })
  private val code = Secded(dataBits)
  private val array = SyncReadMem(depth, UInt(code.width.W))

  // ---- the port of writes and scrubbing
  private val clearing = RegInit(true.B)
  private val at = RegInit(0.U(addressBits.W))
  private val atLast = at === (depth - 1).U
  private val next = Mux(atLast, 0.U, at + 1.U)
  private val reads :: decodes :: settles :: Nil = Enum(3)
  private val step = RegInit(reads)
  private val fixed = Reg(UInt(code.width.W))
  private val wrong = RegInit(false.B)
  private val hopeless = RegInit(false.B)
  private val free = !io.write.valid
  private val repairs = step === settles && wrong && free
  private val writes = !free || clearing || repairs
  private val address = Mux(free, at, io.write.bits.address)
  private val written = Mux(free, Mux(clearing, 0.U(code.width.W), fixed), code.encode(io.write.bits.data))
  private val found = code.decode(array.readWrite(address, written, writes || step === reads, writes))
  when(clearing && free) {
    at := next
    clearing := !atLast
  }
  when(!clearing) {
    switch(step) {
      is(reads) { when(free) { step := decodes } }
      is(decodes) {
        fixed := found.word
        wrong := found.corrected
        hopeless := found.uncorrectable
        step := Mux(free, settles, reads)
      }
      is(settles) {
        step := reads
        when(free || !wrong) { at := next }
      }
    }
  }
  io.ready := !clearing

  // ---- the reader's port
  private val hit = RegNext(writes && address === io.readAddress, false.B)
  private val held = RegNext(written(dataBits - 1, 0))
  private val read = code.decode(array.read(io.readAddress))
  io.readData := Mux(hit, held, read.data)
  io.uncorrectable := !hit && read.uncorrectable

  private val counts = io.used && !hit && !clearing // what was never written is no upset
  io.events.corrected := counts && read.corrected
  io.events.uncorrectable := counts && read.uncorrectable
  io.events.repaired := repairs
  io.events.beyondRepair := step === settles && hopeless
}
