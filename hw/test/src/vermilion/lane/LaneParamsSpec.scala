package vermilion.lane

import chisel3._
import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.stream.Ingress

/** What no build can have is refused before there is any hardware, in one sentence with the field, its value and what is legal. */
class LaneParamsSpec extends AnyFunSuite {

  /** A field, how to set it, values that are legal and values that are not, and the words for what is legal. */
  private case class Field(name: String, legal: Seq[Int], illegal: Seq[Int], words: String)(val set: Int => LaneParams)
  private val whole = LaneParams()
  private val fields = Seq(
    Field("dataBits", Seq(64, 128, 512), Seq(-64, 0, 8, 32, 63, 65, 256, 1024), "64, 128 and 512")(v =>
      whole.copy(dataBits = v)
    ),
    Field("inputs", Seq(1, 3, 16), Seq(-1, 0, 17), "1 to 16")(v =>
      whole.copy(inputs = v, stallable = Seq.fill(v)(true))
    ),
    Field("queues", Seq(2, 3, 40, 1024), Seq(-1, 0, 1, 1025), "2 to 1024")(v => whole.copy(queues = v)),
    Field(
      "cells",
      Seq(256, 1048576),
      Seq(-256, 0, 128, 255, 257, 3000, 2097152, Int.MinValue),
      "powers of two from 256 to 1048576"
    )(v => whole.copy(cells = v)),
    Field("maxFrameBytes", Seq(1522, 9999, 16320), Seq(-1, 0, 1521, 16321), "1522 to 16320")(v =>
      whole.copy(maxFrameBytes = v)
    ),
    Field(
      "victims",
      Seq(0, 1, 2, 16),
      Seq(-1, 3, 12, 17, 32),
      "0 (no victim search) and powers of two up to the 16 queues"
    )(v => whole.copy(victims = v)),
    Field("evictedBits", Seq(0, 5, 9), Seq(-1, 10), "0 to 9, the bits of `user`")(v =>
      whole.copy(userBits = 9, evictedBits = Some(v))
    ),
    Field("egresses", Seq(1, 2, 4, 8), Seq(-1, 0, 3, 5, 6, 7, 9, 16), "1, 2, 4 and 8")(v =>
      whole.copy(queues = 16, egresses = v)
    )
  )

  private def refusal(make: => Any): String = intercept[IllegalArgumentException](make).getMessage

  test("every field refuses each illegal value by its name, value and range, and takes the ends of the range") {
    for (field <- fields) {
      for (value <- field.legal) field.set(value)
      for (value <- field.illegal)
        assert(refusal(field.set(value)) == s"requirement failed: ${field.name} is $value; legal are ${field.words}")
    }
    for ((inputs, entries) <- Seq((1, 0), (1, 2), (3, 2)))
      assert(
        refusal(whole.copy(inputs = inputs, stallable = Seq.fill(entries)(true)))
          .contains(s"stallable has $entries entries for $inputs inputs; legal is one entry for each input")
      )
  }

  test("egresses that do not share the queues evenly are refused") {
    val of = "queues is %d with %d egresses; legal are powers of two, with 2 queues or more for each egress"
    for ((queues, egresses) <- Seq((4, 4), (8, 8), (24, 2), (2, 2), (40, 8)))
      assert(
        refusal(whole.copy(queues = queues, egresses = egresses)) == "requirement failed: " + of.format(
          queues,
          egresses
        )
      )
    assert(
      refusal(whole.copy(queues = 32, egresses = 4, victims = 16)) ==
        "requirement failed: victims is 16 with 4 egresses; legal are 0 and 32, all queues"
    )
    for ((queues, egresses) <- Seq((4, 2), (8, 4), (16, 8), (1024, 8)))
      whole.copy(queues = queues, egresses = egresses, victims = 0)
  }

  test("a queue's head holds 4, 8 or 16 packets, by its width where nothing is said") {
    for (heads <- Seq(0, 2, 5, 32))
      assert(refusal(whole.copy(heads = Some(heads))) == s"requirement failed: heads is $heads; legal are 4, 8 and 16")
    assert(Seq(64, 128, 512).map(bits => whole.copy(dataBits = bits).headPlaces) == Seq(4, 4, 8))
    assert(whole.copy(heads = Some(16)).headPlaces == 16)
  }

  test("protected memories and the victim search are not built together") {
    val words =
      "protect is true with 2 victims; the memories of the victim search are not protected, legal is victims = 0"
    assert(refusal(whole.copy(victims = 2, protect = true)) == s"requirement failed: $words")
  }

  test("rules are a power of two from 16 to 256, and not protected") {
    for (rules <- Seq(1, 8, 65, 512)) {
      val words = s"rules is $rules; legal are 0 (no rules) and powers of two from 16 to 256"
      assert(refusal(whole.copy(rules = rules)) == s"requirement failed: $words")
    }
    val words = "protect is true with 64 rules; the memories of rules are not protected, legal is rules = 0"
    assert(refusal(whole.copy(rules = 64, protect = true)) == s"requirement failed: $words")
  }

  test("DualPI2 needs verdicts at departure and pairs of queues, and fits the smallest lane") {
    assert(refusal(whole.copy(dualpi2 = true, codel = false)).endsWith("legal is codel = true"))
    val odd = refusal(LaneParams(queues = 3, cells = 256, codel = true, dualpi2 = true))
    assert(odd.contains("3 queues") && odd.endsWith("legal is an even number of queues for each egress"))
    for (queues <- Seq(2, 6))
      ChiselStage.emitCHIRRTL(new LaneCore(LaneParams(queues = queues, cells = 256, codel = true, dualpi2 = true)))
  }

  test("groups of flows need CoDel and a power of two of queues") {
    assert(refusal(whole.copy(fq = true, codel = false)).endsWith("legal is codel = true"))
    val odd = refusal(LaneParams(queues = 12, cells = 256, codel = true, fq = true))
    assert(odd.contains("12 queues") && odd.endsWith("legal is a power of two"))
    ChiselStage.emitCHIRRTL(new LaneCore(LaneParams(queues = 2, cells = 256, codel = true, fq = true)))
  }

  test("a block that is asked for what does not fit refuses it with the value") {
    val wide = UInt(8.W)
    assert(refusal(Delay(wide, -1)).endsWith("cycles is -1; legal are 0 and more"))
    assert(refusal(Arithmetic.saturateAt(wide, 16, 4)).endsWith("limit 16 does not fit 4 bits"))
    assert(refusal(Arithmetic.reached(wide, UInt(5.W))).endsWith("widths are 8 and 5; they must be the same"))
    assert(
      refusal(ChiselStage.emitCHIRRTL(new Ingress(whole, 1))).endsWith("input is 1; legal are 0 to 0")
    )
  }

  test("every supported build, and the ends of the ranges, elaborate") {
    val ends = Seq(
      LaneParams(dataBits = 512, inputs = 1, queues = 3, cells = 256, maxFrameBytes = 1522, stallable = Seq(true)),
      LaneParams(queues = 3, cells = 256, victims = 2),
      LaneParams(queues = 3, cells = 256, protect = true),
      LaneParams(inputs = 16, queues = 2, cells = 256, stallable = Seq.fill(16)(true))
    )
    // Several egresses in all widths, and with everything that a build may have beside them.
    val several = LaneParams(inputs = 4, queues = 16, cells = 256, egresses = 4, stallable = Seq.fill(4)(true))
    val egresses = Seq(
      several.copy(egresses = 2, dataBits = 128, userBits = 9, evictedBits = Some(4)),
      several.copy(egresses = 8, dataBits = 512),
      several.copy(egresses = 8, victims = 16),
      several.copy(egresses = 2, dataBits = 512, victims = 16, inputs = 1, stallable = Seq(true)),
      several.copy(queues = 8, protect = true, flows = 0, userBits = 9),
      LaneParams.forBenches("card-2x10g"),
      LaneParams.forBenches("card-2x25g")
    )
    for (p <- LaneParams.byName.values.toSeq ++ ends ++ egresses) {
      val text = ChiselStage.emitCHIRRTL(new LaneCore(p))
      for (port <- Seq(s"data : UInt<${p.dataBits}>", s"freeCells : UInt<${p.cellBits + 1}>"))
        assert(text.contains(port), s"no $port with $p")
      assert(
        s"inst scheduler(_\\d+)? of ".r.findAllIn(text).size == p.egresses,
        s"not a scheduler for each egress with $p"
      )
    }
  }

  test("a lane behind pins holds a bit for every input") {
    val p = LaneParams(inputs = 2, stallable = Seq(false, true))
    val (stream, control) = (1 + 64 + 8 + 1 + 1, 25 + 37 + 1 + 25 + 1) // valid, data, keep, last, bad; aw, w, b, ar, r
    val bits = 48 + 2 * stream + 1 + 1 + control // the time, a ready and a pause
    val text = ChiselStage.emitCHIRRTL(new LaneOnFewPins(p))
    assert(s"shifted : UInt<$bits>".r.findFirstIn(text).isDefined, "a bit more or less than the lane's inputs")
  }
}
