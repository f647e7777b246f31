package vermilion.fixed

import chisel3._
import chisel3.util._
import scala.util.DynamicVariable

/** The kind of a memory: LUTs, block RAM or UltraRAM. `style` is Vivado's `ram_style` (UG901), `word` begins the name of the module. */
sealed abstract class MemoryKind(val style: String, val word: String)

object MemoryKind {
  case object Lut extends MemoryKind("distributed", "LutRam")
  case object Block extends MemoryKind("block", "BlockRam")
  case object Ultra extends MemoryKind("ultra", "UltraRam")

  /** Maximum number of words of a memory in LUTs: 64, as many as a LUT holds bits. Proofs of builds with few words set it to 0, so that they have the
    * memories of deep builds.
    */
  val lutDepth = new DynamicVariable(64)

  /** LUTs up to `lutDepth` words, block RAM above. An UltraScale+ device has about 450 LUTs per block RAM, and 64 words of 7 bits take 8 LUTs. */
  def of(depth: Int): MemoryKind = if (depth <= lutDepth.value) Lut else Block

  /** UltraRAM if the device has it and the memory is large, otherwise as [[of]]. An UltraRAM is 4,096 x 72 bits. */
  def large(depth: Int, width: Int, ultraRam: Boolean): MemoryKind =
    if (ultraRam && depth >= 2048 && width >= 64) Ultra else of(depth)
}

/** One memory of the device: one write port, one read port, one clock.
  *
  * All memories that get their address one cycle before they return data are this module, except:
  *  - memories with byte strobes or two write ports ([[vermilion.control.RegisterFile]], [[vermilion.protect.ScrubbedRam]]),
  *  - memories with ports of two widths ([[WideWriteRam]]),
  *  - the stores of Chisel's queues ([[vermilion.nic.RxBypass]], [[vermilion.victim.HeadPlaces]]).
  *
  * It is in Verilog because Chisel's memories specify neither their kind nor the result of a read that meets a write. A read with its address in
  * cycle t returns its data in t+1. If the same word is written in cycle t:
  *  - LUTs return the new word. The address is registered, not the data.
  *  - Block RAM and UltraRAM return the old word in a simulation. Nothing may depend on it: simulations of the build "undefined" return random bits,
  *    and proofs any bits. `rw_addr_collision` is "no" (UG901), so that Vivado spends no logic on it. The write mode that Vivado selects for this
  *    form has not been checked.
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

/** A memory with one write port and any number of read ports, each with a copy of the array ([[MemoryArray]]).
  *
  * A read that meets a write returns undefined data.
  *
  * @param depth number of records
  * @param gen   type of a record
  * @param kind  the kind of memory
  * @param slice bits of a record that share an array: arrays as wide as one block RAM of this depth need no multiplexer at their output
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

  /** Names the arrays that are added after this call. */
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
