package vermilion.nic

import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite
import vermilion.lane.LaneParams

class NicParamsSpec extends AnyFunSuite {
  private val wire = LaneParams.nic10g
  private val host = wire.copy(inputs = 1, stallable = Seq(false))

  private def refused(sentence: String)(params: => NicParams): Unit = {
    val thrown = intercept[IllegalArgumentException](params)
    assert(thrown.getMessage.contains(sentence), thrown.getMessage)
  }

  test("what cannot be built is refused with field, value and what is legal") {
    refused("ports is 0; legal are 1 to 8")(NicParams(0))
    refused("ports is 9; legal are 1 to 8")(NicParams(9))
    refused("wire.stallable is false; legal is false, true")(NicParams(wire = host))
    refused("wire.userBits is 4; legal is 0")(NicParams(wire = wire.copy(userBits = 4)))
    refused("wire.nextBlock is 4; legal is 0")(NicParams(wire = wire.copy(nextBlock = 4)))
    refused("host.stallable is false, true; legal is false")(NicParams(host = Some(wire)))
    refused("host.dataBits is 128; legal is 64")(NicParams(host = Some(host.copy(dataBits = 128))))
    refused("host.userBits is 1; legal is 0")(NicParams(host = Some(host.copy(userBits = 1))))
    refused("host.nextBlock is 8; legal is 0")(NicParams(host = Some(host.copy(nextBlock = 8))))
    refused("clockNum is 0; legal are 1 to 65535")(NicParams(clockNum = 0))
    refused("clockDenom is 65536; legal are 1 to 65535")(NicParams(clockDenom = 65536))
    refused("bypassBeats is 48; legal are powers of two from 4 to 4096")(NicParams(bypassBeats = 48))
  }

  test("peers are pairs, and the last of an odd number is its own") {
    assert((0 until 4).map(NicParams(4).peer) == Seq(1, 0, 3, 2))
    assert((0 until 3).map(NicParams(3).peer) == Seq(1, 0, 2))
    assert(NicParams(1).peer(0) == 0)
  }

  private val shared = LaneParams.forBenches("card-2x10g")

  test("lanes are wire 0, host 0, wire 1, ... and their register blocks form a chain that ends") {
    for (p <- Seq(NicParams(1), NicParams(3), NicParams(2, host = Some(host)), NicParams(8, host = Some(host)))) {
      val lanes = p.lanes.map(_.built)
      assert(lanes.size == p.ports * (if (p.host.isDefined) 2 else 1) && p.lanes.flatMap(_.ways) == p.ways)
      val next = (1 until lanes.size).map(NicParams.laneBase) :+ 0
      assert(lanes.map(_.nextBlock) == next.map(BigInt(_)))
      assert(next.max < (1 << NicParams.AddressBits))
      for (i <- 0 until p.ports) {
        val (wire, egress) = p.placeOf(Way(i, toHost = false)).get
        assert(lanes(wire).inputs == 2 && lanes(wire).userBits == 16 && egress == 0)
        assert(p.lanes(wire).inputs == Seq(FrameSource(p.peer(i), fromHost = false), FrameSource(i, fromHost = true)))
        val toHost = p.placeOf(Way(i, toHost = true)).map(_._1)
        assert(toHost.map(lanes(_).userBits) == p.host.map(_ => 96))
      }
    }
  }

  test("a shared lane serves all ways") {
    val p = NicParams(2, shared = Some(shared))
    assert(p.lanes.size == 1 && p.ways.zipWithIndex.forall { case (way, i) => p.placeOf(way).contains((0, i)) })
    assert(p.lanes.head.inputs == Seq(0, 1).flatMap(port => Seq(FrameSource(port, false), FrameSource(port, true))))
    assert(p.lanes.head.built.userBits == 2 + 96 && p.lanes.head.built.routeInUser)
    assert(p.lanes.head.built.evictedBits.contains(2 + 16), "of an evicted frame the timestamp is kept")
    assert(NicParams(2, shared = Some(shared), timestamps = false).lanes.head.built.userBits == 2 + 16)
    refused("ports is 3 with shared; legal are 1, 2 and 4")(NicParams(3, shared = Some(shared)))
    refused("shared has 4 egresses")(NicParams(1, shared = Some(shared)))
    refused("wire is given beside shared")(NicParams(2, LaneParams.nic100g, shared = Some(shared)))
    refused("wire.egresses is 2; legal is 1")(NicParams(2, wire.copy(egresses = 2)))
    refused("wire.routeInUser is true; legal is false")(NicParams(2, wire.copy(routeInUser = true)))
    refused("shared.routeInUser is true")(NicParams(2, shared = Some(shared.copy(userBits = 2, routeInUser = true))))
    refused("host is given beside shared")(NicParams(2, host = Some(host), shared = Some(shared)))
    refused("shared.userBits is 4; legal is 0")(NicParams(2, shared = Some(shared.copy(userBits = 4))))
  }

  test("the smallest build and one with a port that has no peer elaborate, with ports as wide as they should be") {
    val small = wire.copy(cells = 256, flows = 0, tokenKinds = Set.empty)
    val one = ChiselStage.emitCHIRRTL(new VermilionApp(NicParams(1, small, timestamps = false, ptpTime = false)))
    assert(one.contains("tdata : UInt<64>") && one.contains("tuser : UInt<1>"))
    val three = ChiselStage.emitCHIRRTL(new VermilionApp(NicParams(3, small.copy(dataBits = 128))))
    assert(three.contains("tdata : UInt<384>") && three.contains("tuser : UInt<291>"))
  }

  test("shared lanes for one, two and four ports elaborate, with timestamps and without, at every width") {
    for ((ports, bits) <- Seq(1 -> 512, 2 -> 128, 4 -> 64); timestamps <- Seq(true, false)) {
      val lane = LaneParams(
        dataBits = bits,
        inputs = 2 * ports,
        stallable = Seq.fill(ports)(Seq(false, true)).flatten,
        queues = 4 * ports,
        egresses = 2 * ports,
        cells = 256,
        flows = 0,
        tokenKinds = Set.empty
      )
      val p = NicParams(ports, shared = Some(lane), timestamps = timestamps, ptpTime = timestamps)
      val text = ChiselStage.emitCHIRRTL(new VermilionApp(p))
      assert(text.contains(s"tdata : UInt<${ports * bits}>"))
    }
  }

  test("a preset's name may end in -nots, in -300mhz, and in both in this order") {
    assert(NicParams.named("card-2x25g") == NicParams.byName.get("card-2x25g"))
    val both = NicParams.named("card-2x25g-nots-300mhz").get
    assert(both == NicParams.byName("card-2x25g").copy(timestamps = false, clockNum = 10, clockDenom = 3))
    assert(NicParams.named("app10g-1-300mhz").get.timestamps && !NicParams.named("app10g-1-nots").get.timestamps)
    for (none <- Seq("app10g-1-300mhz-nots", "app10g-1-nots-nots", "-nots", "app10g-1-", "nosuch"))
      assert(NicParams.named(none).isEmpty, none)
  }

  test("lanes of every supported build have a clock for each cell that the wires bring at the worst size") {
    for ((name, p) <- NicParams.byName) {
      // 65 bytes are two cells, with 20 bytes between frames. A stream brings no more than a beat a clock, and a cell has no less than one.
      val cells = Map(64 -> 10, 128 -> 25, 512 -> 100)(p.dataBits) / 8.0 / (65 + 20) * 2 * 4
      for (lane <- p.lanes) {
        val ports = lane.inputs.count(!_.fromHost)
        assert(ports * cells.min(1) <= 1, s"$name: $ports ports bring ${ports * cells.min(1)} cells a clock")
      }
    }
  }

  test("cards of one, two and four ports elaborate, with every ending that a name may have") {
    for (name <- Seq("card-4x10g-nots-300mhz", "card-2x100g", "card-1x25g-nots")) {
      val p = NicParams.named(name).get
      val text = ChiselStage.emitCHIRRTL(new VermilionApp(p))
      assert(text.contains(s"tdata : UInt<${p.ports * p.dataBits}>"), name)
    }
  }

  test("what the shell checks is what is built") {
    val defines = EmitApp.defines(NicParams.byName("app25g-2")).toMap
    assert(defines("VERMILION_APP_PORTS") == "2" && defines("VERMILION_APP_DATA_BITS") == "128")
    assert(defines("VERMILION_APP_TS_BITS") == "96" && defines("VERMILION_APP_ID") == "32'h564D0001")
    assert(EmitApp.defines(NicParams.forBenches("app10g-1-bare")).toMap.apply("VERMILION_APP_TS_BITS") == "0")
  }
}
