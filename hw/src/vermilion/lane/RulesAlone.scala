package vermilion.lane

import chisel3._
import chisel3.util._
import vermilion.classify.{RuleFormats, RuleTable}
import vermilion.fixed.Delay
import vermilion.fixed.Formats.PktLenBits
import vermilion.parse.{FrameHead, HeaderParser, IpStart, OuterTag}

/** A rule table downstream of a header parser, for benches: frames come as bytes.
  *
  * `answer` comes [[vermilion.parse.HeaderParser.Latency]] + 1 + [[vermilion.classify.RuleTable.Latency]] cycles after `frame`.
  */
class RulesAlone(rules: Int, queueBits: Int) extends Module {
  private val table = Module(new RuleTable(rules, queueBits))
  val frame = IO(Flipped(Valid(new Bundle {
    val data = UInt((HeaderParser.HeadBytes * 8).W)
    val bytes = UInt(8.W) // min(frame length, 128)
    val input = UInt(RuleFormats.InputBits.W)
    val lenBytes = UInt(PktLenBits.W)
    val counts = Bool()
  })))
  val host = IO(chiselTypeOf(table.io.host))
  val answer = IO(chiselTypeOf(table.io.answer))
  private val parser = Module(new HeaderParser)
  private val held = Delay(frame.bits)
  private val head = Wire(new FrameHead)
  head.data := held.data
  head.bytes := held.bytes
  head.start := IpStart(held.data)
  parser.io.types := 0.U.asTypeOf(parser.io.types)
  parser.io.in.valid := RegNext(frame.valid, false.B)
  parser.io.in.bits := head
  table.io.host <> host
  answer := table.io.answer
  table.io.request.valid := parser.io.out.valid
  table.io.request.bits.headers := parser.io.out.bits
  table.io.request.bits.tag := Delay(OuterTag(held.data, held.bytes), HeaderParser.Latency)
  table.io.request.bits.input := Delay(held.input, HeaderParser.Latency)
  private val toAnswer = HeaderParser.Latency + RuleTable.Latency
  table.io.counted.valid := answer.valid && answer.bits.hit && Delay(held.counts, toAnswer)
  table.io.counted.bits.rule := answer.bits.rule
  table.io.counted.bits.lenBytes := Delay(held.lenBytes, toAnswer)
}
