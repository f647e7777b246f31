package vermilion.protect

import chisel3._
import chisel3.util._

/** The events of a protected memory in this cycle. */
class UpsetEvents extends Bundle {
  val corrected = Bool() // a word that was used had one wrong bit, which was corrected
  val repaired = Bool() // the scrubber wrote such a word back: once per upset, unless the word was overwritten before
  val uncorrectable = Bool() // a word that was used has more than one wrong bit: stop
  val beyondRepair = Bool() // the scrubber found such a word; it finds it again in every walk
}

/** A RAM with one write and one read port that stores codewords ([[Secded]]). It corrects words as they are read, and a scrubber repairs them.
  *
  * Read latency 1. A read in the cycle of a write returns the new data, as in `fixed/ForwardingRam`. Data that is read but not used (for example
  * from a stale address) makes no event: `used` comes with the data. Path: RAM, syndrome (two levels of LUT at up to
  * 36 ones per row), one comparison, one XOR, the multiplexer of the forwarded word.
  *
  * Scrubber: it walks through all addresses and never delays an access. It uses only the write port, as a read port in cycles without a
  * write: block RAMs have two ports that do both. It takes three cycles per word: read; decode; write back if one bit was wrong. If the memory
  * is written meanwhile, the scrubber reads the word again. So an upset lives for at most 3 x depth cycles, plus three for every write in that time.
  * A repair needs three consecutive cycles without a write, so the upset lives longer if the writes leave none. A word with two wrong bits stays.
  *
  * After reset all words are written with zeros, in cycles without a write. Until `ready` only zeros may be written.
  *
  * It does not find an upset of the registers after the array, or of an address.
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
    val uncorrectable = Output(Bool()) // for `readData`, used or not
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

  private val counts = io.used && !hit && !clearing // a word that was never written is no upset
  io.events.corrected := counts && read.corrected
  io.events.uncorrectable := counts && read.uncorrectable
  io.events.repaired := repairs
  io.events.beyondRepair := step === settles && hopeless
}
