package vermilion.fixed

import chisel3._
import chisel3.util.log2Ceil

/** A RAM that is written one row at a time and read one part of a row at a time.
  *
  * The two ports of a block RAM can have different widths, so the block RAM itself selects the part. With wide rows this saves the multiplexer that a
  * narrow RAM would need at its write port.
  *
  * A read with its address in cycle t returns in t+1 the data written before t. If the row is written in t, the result is undefined. Contents after
  * reset are undefined. It is in Verilog because Chisel's RAMs have ports of one width. Synthesis infers such a block RAM from this form.
  */
class WideWriteRam(rows: Int, parts: Int, width: Int) extends ExtModule {
  require(parts >= 2 && (parts & (parts - 1)) == 0, s"parts is $parts; legal are powers of two from 2")
  private val (rowBits, partBits) = (log2Ceil(rows).max(1), log2Ceil(parts))
  val clock = IO(Input(Clock()))
  val write = IO(Input(Bool()))
  val row = IO(Input(UInt(rowBits.W)))
  val data = IO(Input(UInt((width * parts).W))) // part 0 in the lowest bits
  val address = IO(Input(UInt((rowBits + partBits).W))) // row, part
  val part = IO(Output(UInt(width.W)))
  override def desiredName = s"WideWriteRam_${1 << rowBits}x${parts}x$width"
  setInline(
    s"$desiredName.sv",
    s"""module $desiredName(
       |  input clock, write,
       |  input [${rowBits - 1}:0] row,
       |  input [${width * parts - 1}:0] data,
       |  input [${rowBits + partBits - 1}:0] address,
       |  output reg [${width - 1}:0] part
       |);
       |  (* ram_style = "block" *) reg [${width - 1}:0] memory [0:${(parts << rowBits) - 1}];
       |  integer i;
       |  always @(posedge clock)
       |    if (write)
       |      for (i = 0; i < $parts; i = i + 1) memory[{row, i[${partBits - 1}:0]}] <= data[i * $width +: $width];
       |  always @(posedge clock) part <= memory[address];
       |endmodule
       |""".stripMargin
  )
}

object WideWriteRam {

  /** Rows of `parts` records. `data` is one row; it may have fewer records. A record is read in the cycle after its address. */
  def apply[T <: Data](rows: Int, parts: Int, write: Bool, row: UInt, data: Seq[T], address: UInt): T = {
    require(data.nonEmpty && data.size <= parts, s"${data.size} records for a row of $parts")
    val ram = Module(new WideWriteRam(rows, parts, data.head.getWidth))
    ram.clock := Module.clock
    ram.write := write
    ram.row := row
    ram.data := VecInit(data.map(_.asUInt)).asUInt.pad(data.head.getWidth * parts)
    ram.address := address
    ram.part.asTypeOf(chiselTypeOf(data.head))
  }
}
