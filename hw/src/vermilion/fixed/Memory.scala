package vermilion.fixed

import chisel3._
import chisel3.util._
import scala.util.DynamicVariable

/** What a memory is made of. `style` is Vivado's `ram_style` (UG901), `word` begins the name of the module. */
sealed abstract class MemoryKind(val style: String, val word: String)

object MemoryKind {
  case object Lut extends MemoryKind("distributed", "LutRam")
  case object Block extends MemoryKind("block", "BlockRam")
  case object Ultra extends MemoryKind("ultra", "UltraRam")

  /** The deepest memory that lies in LUTs: 64 words, as many as a LUT holds bits. Proofs of builds with a few words set 0, to have what deep ones have. */
  val lutDepth = new DynamicVariable(64)

  /** LUTs up to `lutDepth`, block RAM beyond. An UltraScale+ device has some 450 LUTs for each block RAM, and 64 words in LUTs take 8 for 7 bits. */
  def of(depth: Int): MemoryKind = if (depth <= lutDepth.value) Lut else Block

  /** UltraRAM where the device has it and the memory is large, else as [[of]]. An UltraRAM is 4,096 x 72 bits. */
  def large(depth: Int, width: Int, ultraRam: Boolean): MemoryKind =
    if (ultraRam && depth >= 2048 && width >= 64) Ultra else of(depth)
}

/** One memory of the device: one write port, one read port, one clock. All memories that are addressed a clock before their data are this module, but
  * those with byte strobes or two ports that write ([[vermilion.control.RegisterFile]], [[vermilion.protect.ScrubbedRam]]), ports of two widths
  * ([[WideWriteRam]]), and stores of queues of Chisel's ([[vermilion.nic.RxBypass]], [[vermilion.victim.HeadPlaces]]).
  *
  * In Verilog, as Chisel's memories name neither their kind nor what a read gives that meets a write. A read that is addressed in clock t gives its data
  * in t+1. If the same word is written in clock t:
  *  - LUTs give the new word. The address is held, and not the data.
  *  - Block RAM and UltraRAM give the old word in a simulation. Nothing may hang on it: simulations of the build "undefined" give random bits, and the proofs any.
  *    `rw_addr_collision` is "no" (UG901), so that no logic is spent on it. Which write mode Vivado takes for this form has not been looked at.
  *
  * Contents are undefined until they are written.
  *
  * @param depth words, 1 and more
  * @param width bits of a word
  */
class MemoryArray(depth: Int, width: Int, kind: MemoryKind) extends ExtModule {
  private val addressBits = log2Ceil(depth).max(1)
  val clock = IO(Input(Clock()))
  val write = IO(Input(Bool()))
  val writeAddress = IO(Input(UInt(addressBits.W)))
  val writeData = IO(Input(UInt(width.W)))
  val readAddress = IO(Input(UInt(addressBits.W)))
  val readData = IO(Output(UInt(width.W)))
  override def desiredName = s"${kind.word}_${depth}x$width"

  private val (attributes, held, address, data) = kind match {
    case MemoryKind.Lut => ("", s"[${addressBits - 1}:0]", "held <= readAddress", "memory[held]")
    case _ => (""", rw_addr_collision = "no"""", s"[${width - 1}:0]", "held <= memory[readAddress]", "held")
  }
  setInline(
    s"$desiredName.sv",
    s"""module $desiredName(
       |  input clock, write,
       |  input [${addressBits - 1}:0] writeAddress, readAddress,
       |  input [${width - 1}:0] writeData,
       |  output [${width - 1}:0] readData
       |);
       |  (* ram_style = "${kind.style}"$attributes *) reg [${width - 1}:0] memory [0:${depth - 1}];
       |  reg $held held;
       |  always @(posedge clock) if (write) memory[writeAddress] <= writeData;
       |  always @(posedge clock) $address;
       |  assign readData = $data;
       |endmodule
       |""".stripMargin
  )
}

/** A memory with one write port and any number of read ports, each with a copy of the array ([[MemoryArray]]). A read that meets a write is undefined.
  *
  * @param depth number of records
  * @param gen   type of a record
  * @param kind  what it is made of
  * @param slice bits of a record that share an array: arrays as wide as one block RAM of this depth need no multiplexer behind them
  */
class Memory[T <: Data](depth: Int, gen: T, kind: MemoryKind, slice: Int = Int.MaxValue) {
  private val addressBits = log2Ceil(depth).max(1)
  protected val writeEnable: Bool = Wire(Bool())
  protected val writeAddress: UInt = Wire(UInt(addressBits.W))
  protected val writeData: T = Wire(gen.cloneType)
  private var name = Option.empty[String]
  writeEnable := false.B
  writeAddress := DontCare
  writeData := DontCare

  /** Names the arrays behind it that are added from now on. */
  def suggestName(suggested: String): this.type = {
    name = Some(suggested)
    this
  }

  /** Drives the write port; the last connection in program order wins. */
  def write(enable: Bool, address: UInt, data: T): Unit = when(enable) {
    writeEnable := true.B
    writeAddress := address
    writeData := data
  }

  private def array(address: UInt, high: Int, low: Int): UInt = {
    val array = Module(new MemoryArray(depth, high - low + 1, kind))
    name.foreach(array.suggestName(_))
    array.clock := Module.clock
    array.write := writeEnable
    array.writeAddress := writeAddress
    array.writeData := writeData.asUInt(high, low)
    array.readAddress := address
    array.readData
  }

  /** Adds a read port without forwarding: the result is undefined if the record is written in the cycle of the address. */
  def readUnforwarded(address: UInt): T = {
    val (width, at) = (gen.getWidth, Wire(UInt(addressBits.W)))
    at := address
    Cat((0 until width by slice.min(width)).map(low => array(at, (low + slice.min(width)).min(width) - 1, low)).reverse)
      .asTypeOf(gen)
  }

  /** Adds a read port; the result belongs to the address of the previous cycle. */
  def read(address: UInt): T = readUnforwarded(address)
}
