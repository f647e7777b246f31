package vermilion.parse

import chisel3._
import chisel3.util.Valid
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.Bits
import vermilion.stream.Headers

class HeaderParserSpec extends AnyFunSuite with Simulation {

  /** Hand-made frames whose answers are known without the reference. */
  private val ethernet = Array.fill(12)(0)
  private val tcp4 =
    ethernet ++ Array(8, 0) ++ Array(0x45, 0xb9, 0, 40, 0, 0, 0x40, 0, 63, 6, 0, 0) ++ Array.fill(8)(1) ++
      Array(0x12, 0x34, 0x56, 0x78, 1, 2, 3, 4, 9, 9, 9, 9, 0x50, 0x12, 0, 0, 0, 0, 0, 0)
  private val addressed =
    HeaderReference(true, false, 14, 46, 1, 63, 6, ipBytes = 40, srcAddr = 0x01010101, dstAddr = 0x01010101)
  private val ported = addressed.copy(hasPorts = true, srcPort = 0x1234, dstPort = 0x5678)
  private val segment = ported.copy(isTcp = true, tcpFlags = 0x12, tcpSeq = 0x01020304L)
  private val oneByte = tcp4.updated(17, 41)
  private val known = Seq(
    tcp4 -> segment,
    (tcp4 ++ Array(1, 2, 3, 4, 5, 6)) -> segment, // padding is no payload
    oneByte -> segment.copy(ipBytes = 41), // a length that lies
    (oneByte :+ 7) -> segment.copy(ipBytes = 41, tcpPayload = true),
    tcp4.updated(46, 0x60) -> segment,
    tcp4.updated(46, 0x40).updated(17, 44) -> segment.copy(ipBytes = 44), // no legal data offset
    (oneByte ++ Array.fill(90)(0)) -> segment.copy(ipBytes = 41, tcpPayload = true),
    (oneByte.updated(46, 0xf0) ++ Array.fill(90)(0)) -> segment.copy(ipBytes = 41),
    (tcp4.take(12) ++ Array(0x88, 0xa8, 0xfa, 0xbc, 0x81, 0, 0x31, 0x23) ++ tcp4.drop(12)) -> segment
      .copy(l3Offset = 22, vlan = 0xabc123),
    (tcp4.take(12) ++ Array(0x81, 0, 0xff, 0xfe) ++ tcp4.drop(12)) -> segment.copy(l3Offset = 18, vlan = 0xffe),
    tcp4.take(47) -> ported,
    tcp4.take(37) -> addressed,
    tcp4.take(33) -> HeaderReference(),
    Array(7) -> HeaderReference(),
    (ethernet ++ Array(0x88, 0xf7)) -> HeaderReference(isPtpType = true),
    (ethernet ++ Array(0x88)) -> HeaderReference(),
    (ethernet ++ Array(0x81, 0, 1, 2, 0x81, 0, 1, 2, 0x88, 0xf7)) -> HeaderReference(isPtpType = true)
  )

  private val seen = mutable.Map[String, Int]().withDefaultValue(0)
  private def see(headers: HeaderReference): Unit =
    for (
      (name, is) <- Seq(
        "ip4" -> headers.isIp4,
        "ip6" -> headers.isIp6,
        "ip6 with ports behind extensions" -> (headers.isIp6 && headers.hasPorts),
        "tcp" -> headers.isTcp,
        "tcp with payload" -> headers.tcpPayload,
        "tcp without" -> (headers.isTcp && !headers.tcpPayload),
        "no ip" -> !(headers.isIp4 || headers.isIp6),
        "ip6 stopped at an extension" -> (headers.isIp6 && Set(0, 43, 44, 51, 60)(headers.proto)),
        "ptp" -> headers.isPtpType,
        "two tags" -> (headers.l3Offset == 22)
      ) if is
    ) seen(name) += 1

  private val expected = mutable.Queue[(Int, HeaderReference, Seq[Int])]() // the clock in which a frame's head was in
  private var got, clock = 0
  private def begin(): Unit = {
    seen.clear()
    expected.clear()
    got = 0
    clock = 0
  }

  /** What comes out in this clock, if anything does, is the next frame's, `latency` clocks behind its head. */
  private def takeHeaders(out: Valid[Headers], latency: Int): Unit =
    if (out.valid.peek().litToBoolean) {
      val (at, reference, bytes) = expected.dequeue()
      assert(clock - at == latency)
      val headers = PeekHeaders(out.bits)
      assert(headers == reference, s"frame $got: ${bytes.map(b => f"$b%02x").mkString}")
      see(headers)
      got += 1
    }
  private def assertAllSeen(): Unit = {
    assert(expected.isEmpty)
    println(seen)
    assert(seen.size == 10 && seen.values.forall(_ > 50), seen)
  }

  test("one frame a clock, with and without gaps: headers are the reference's, in order, after the stated latency") {
    simulate(new HeaderParserAlone) { dut =>
      val seed = 20260711L
      println(s"HeaderParserSpec seed $seed")
      val random = new Random(seed)
      val frames = new RandomFrame(random)
      begin()
      val total = 4000
      var sent = 0
      dut.io.in.valid.poke(false.B)
      while (got < total) {
        val send = sent < total && (sent < total / 2 || random.nextInt(3) != 0)
        dut.io.in.valid.poke(send.B)
        val frame = if (sent < known.size) known(sent)._1 else frames.next()
        if (send) {
          val reference = HeaderReference.parse(frame)
          if (sent < known.size) assert(reference == known(sent)._2, "the reference itself")
          // Bytes past the frame's end are junk, as they are in a reused cell.
          val junk = Array.fill(128)(random.nextInt(256))
          dut.io.in.bits.data.poke(Bits.pack((frame ++ junk.drop(frame.length.min(128))).take(128).toSeq).U)
          dut.io.in.bits.bytes.poke(frame.length.min(128).U)
          expected.enqueue((clock, reference, frame.toSeq))
          sent += 1
        }
        takeHeaders(dut.io.out, HeaderParser.Latency)
        dut.clock.step()
        clock += 1
      }
      assertAllSeen()
    }
  }
}
