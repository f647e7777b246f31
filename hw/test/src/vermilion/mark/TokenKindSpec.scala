package vermilion.mark

import org.scalatest.funsuite.AnyFunSuite
import vermilion.Simulation
import vermilion.control.{MarkerKind, TokenKind}
import vermilion.flow.{FlowMarker, NoFlowMarker}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** Builds that leave markers out; all of them together are tested against the model in `cocotb_tests/blocks/mark`. */
class TokenKindSpec extends AnyFunSuite with Simulation {

  /** The colour of a green packet behind a fresh bucket that cannot pay for it, for each kind. */
  private def colours(dut: TokenMarker): Map[Int, Int] = {
    dut.io.request.valid.poke(false)
    while (!dut.io.ready.peek().litToBoolean) dut.clock.step()
    val config = dut.io.config
    config.cost.foreach { cost => cost.mant.poke(1); cost.shift.poke(0) }
    config.burst.foreach(_.poke(0))
    config.length.poke(false)
    config.packet.poke(0)
    config.out.poke(Colour.Yellow)
    config.colourAware.poke(false)
    config.drop.poke(0)
    (MarkerKind.None +: TokenKind.all.toSeq.map(_.code)).map { kind =>
      dut.io.request.valid.poke(true)
      dut.io.request.bits.queue.poke(kind)
      dut.io.request.bits.colour.poke(Colour.Green)
      dut.io.request.bits.lenBytes.poke(1000)
      dut.io.request.bits.time.poke(1000000)
      dut.io.request.bits.draw.poke(0)
      dut.io.request.bits.l3Offset.poke(14)
      dut.io.request.bits.ipBytes.poke(0)
      dut.clock.step()
      dut.io.request.valid.poke(false)
      config.kind.poke(kind)
      dut.clock.step(TokenMarker.Latency - 1)
      kind -> dut.io.marked.colour.peek().litValue.toInt
    }.toMap
  }
  private val bare = Colour.Green // no bucket: the colour it came with

  test("a build without a kind leaves the colour of its packets alone, a build with it does not") {
    for (kinds <- Seq[Set[TokenKind]](Set(TokenKind.Leaf), Set(TokenKind.Trtcm, TokenKind.Redp))) {
      simulate(new TokenMarker(LaneParams(tokenKinds = kinds))) { dut =>
        val seen = colours(dut)
        assert(seen(MarkerKind.None) == bare)
        for (kind <- TokenKind.all)
          assert((seen(kind.code) != bare) == kinds(kind), s"$kind in a build with $kinds gave ${seen(kind.code)}")
      }
    }
  }

  test("a build without flow markers answers yellow without state, in the same clock as one with them") {
    simulate(new NoFlowMarker(4)) { dut =>
      dut.io.request.valid.poke(false)
      dut.clock.step(10)
      dut.io.ready.expect(true)
      dut.io.request.valid.poke(true)
      dut.clock.step()
      dut.io.request.valid.poke(false)
      for (clock <- 1 to FlowMarker.Latency + 1) {
        dut.io.answer.valid.expect(clock == FlowMarker.Latency)
        if (clock < FlowMarker.Latency + 1) dut.clock.step()
      }
      dut.io.answer.bits.colour.expect(Colour.Yellow)
      dut.io.answer.bits.hasState.expect(false)
    }
  }

  test("a lane takes 0 flows, and no number between 1 and 255") {
    assert(LaneParams(flows = 0).flows == 0)
    val thrown = intercept[IllegalArgumentException](LaneParams(flows = 128))
    assert(
      thrown.getMessage.contains("flows is 128; legal are 0 (no flow markers) and powers of two from 256 to 65536")
    )
  }
}
