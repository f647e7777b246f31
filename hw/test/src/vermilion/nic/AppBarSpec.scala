package vermilion.nic

import chisel3.{assert => _, _}
import chisel3.simulator.PeekPokeAPI
import org.scalatest.Assertions.assert
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.control.{AxiLite, AxiLiteSlave}

/** Drives AXI4-Lite, each of the five channels with stalls of its own; accesses of each direction follow each other
  * without waiting for the answer. Answers must come in order, and stay until they are taken.
  */
class AxiLiteHost(axi: AxiLite, random: Random) extends PeekPokeAPI {
  val addresses, reads = mutable.Queue.empty[Int]
  val data = mutable.Queue.empty[(BigInt, Int)]
  val answers = mutable.ArrayBuffer.empty[BigInt]
  var written = 0
  var pace = 1.0
  private val offers = mutable.Map.empty[String, Boolean].withDefaultValue(false)
  private var heldRead, heldWrite = Option.empty[BigInt]

  def idle: Boolean = addresses.isEmpty && data.isEmpty && reads.isEmpty
  def write(address: Int, word: BigInt, strb: Int = 15): Unit = {
    addresses += address
    data += ((word, strb))
  }

  /** To be called in each clock, before its step. */
  def clock(): Unit = {
    def offer(name: String, there: Boolean): Boolean = {
      offers(name) = there && (offers(name) || random.nextDouble() < pace)
      offers(name)
    }
    axi.aw.valid.poke(offer("aw", addresses.nonEmpty).B)
    addresses.headOption.foreach(x => axi.aw.bits.poke(x.U))
    axi.w.valid.poke(offer("w", data.nonEmpty).B)
    data.headOption.foreach { case (word, strb) => axi.w.bits.data.poke(word.U); axi.w.bits.strb.poke(strb.U) }
    axi.ar.valid.poke(offer("ar", reads.nonEmpty).B)
    reads.headOption.foreach(x => axi.ar.bits.poke(x.U))
    val (b, r) = (random.nextDouble() < pace, random.nextDouble() < pace)
    axi.b.ready.poke(b.B)
    axi.r.ready.poke(r.B)
    def is(x: Bool): Boolean = x.peek().litToBoolean
    def take(name: String, ready: Bool, from: mutable.Queue[_]): Unit =
      if (offers(name) && is(ready)) { offers(name) = false; from.dequeue() }
    take("aw", axi.aw.ready, addresses)
    take("w", axi.w.ready, data)
    take("ar", axi.ar.ready, reads)
    val answer = Option.when(is(axi.b.valid))(axi.b.bits.peek().litValue)
    assert(heldWrite.forall(answer.contains(_)) && answer.forall(_ == 0))
    heldWrite = if (b) None else answer
    if (b && answer.isDefined) written += 1
    val word = Option.when(is(axi.r.valid))(axi.r.bits.data.peek().litValue)
    assert(heldRead.forall(word.contains(_)) && (word.isEmpty || axi.r.bits.resp.peek().litValue == 0))
    heldRead = if (r) None else word
    if (r) answers ++= word
  }
}

/** The bar before blocks of 16 words each, whose writes are held back when told. */
class BarBench(blocks: Int) extends Module {
  val io = IO(new Bundle {
    val host = new AxiLite(NicParams.AddressBits)
    val hold = Input(Vec(blocks, Bool()))
  })
  private val bar = Module(new AppBar(blocks))
  bar.io.host <> io.host
  for (i <- 0 until blocks) {
    val slave = Module(new AxiLiteSlave(NicParams.BlockBits))
    val words = RegInit(VecInit(Seq.tabulate(16)(w => (100 * (i + 1) + w).U(32.W))))
    slave.io.axi <> bar.io.block(i)
    slave.io.hold := io.hold(i)
    val write = slave.io.write
    def indexOf(address: UInt) = address(5, 2)
    def isHere(address: UInt) = address(NicParams.BlockBits - 1, 6) === 0.U
    when(write.valid && isHere(write.bits.address)) {
      val old = words(indexOf(write.bits.address))
      words(indexOf(write.bits.address)) := (old & ~write.bits.mask) | (write.bits.data & write.bits.mask)
    }
    val read = slave.io.readAddress
    slave.io.readData := RegNext(RegNext(Mux(isHere(read), words(indexOf(read)), 0.U)))
  }
}

class AppBarSpec extends AnyFunSuite with Simulation {
  private val blocks = 3

  test("every access is answered in order with what its block says, and with 0 where there is none") {
    simulate(new BarBench(blocks)) { dut =>
      val seed = 4601
      println(s"AppBarSpec seed $seed")
      val random = new Random(seed)
      StreamBench.reset(dut.clock, dut.reset)
      val words = mutable.Map.empty[Int, BigInt].withDefaultValue(BigInt(0))
      for (i <- 0 until blocks; w <- 0 until 16) words((i << NicParams.BlockBits) + 4 * w) = BigInt(100 * (i + 1) + w)
      val host = new AxiLiteHost(dut.io.host, random)
      def address(): Int = {
        val block = Seq(0, 1, 2, 3, 4, 17, 255)(random.nextInt(7))
        (block << NicParams.BlockBits) + 4 * (if (random.nextInt(8) == 0) 16 + random.nextInt(1000)
                                              else random.nextInt(16))
      }
      def run(hold: Double): Int = {
        val (wanted, asked) = (host.written + host.addresses.size, host.answers.size + host.reads.size)
        var clocks = 0
        while (host.written < wanted || host.answers.size < asked) {
          dut.io.hold.foreach(_.poke((random.nextDouble() < hold).B))
          host.clock()
          dut.clock.step()
          clocks += 1
          assert(clocks < 200000, "hangs")
        }
        clocks
      }
      var holes, accesses = 0
      for ((pace, hold) <- Seq((1.0, 0.0), (0.5, 0.0), (1.0, 0.9), (0.2, 0.5))) {
        // Writes, then everything read back.
        for (_ <- 0 until 300) {
          val (at, data, strb) = (address(), BigInt(32, random), random.nextInt(16))
          val mask = (0 until 4).filter(i => (strb >> i & 1) == 1).map(i => BigInt(0xff) << 8 * i).sum
          if (words.contains(at)) words(at) = (words(at) &~ mask) | (data & mask) else holes += 1
          host.write(at, data, strb)
        }
        host.pace = pace
        val took = run(hold)
        val order = random.shuffle(words.keys.toSeq) ++ Seq.fill(200)(address())
        // Reads beside writes that change nothing, so that both directions are under way.
        host.reads ++= order.map(_ + random.nextInt(4))
        for (_ <- 0 until 100) host.write(address(), 0, strb = 0)
        host.answers.clear()
        run(hold)
        assert(host.answers == order.map(words), s"pace $pace")
        accesses += 400 + order.size
        if (pace == 1.0 && hold == 0.0) assert(took < 300 * 12, s"$took clocks for 300 writes")
      }
      assert(holes > 200)
      println(s"  $accesses accesses, $holes writes to nothing")
    }
  }

  test("a block whose writes wait delays neither reads nor anything for ever") {
    simulate(new BarBench(blocks)) { dut =>
      StreamBench.reset(dut.clock, dut.reset)
      val host = new AxiLiteHost(dut.io.host, new Random(4602))
      def clocks(n: Int, hold: Boolean): Unit = for (_ <- 0 until n) {
        dut.io.hold.foreach(_.poke(hold.B))
        host.clock()
        dut.clock.step()
      }
      host.write(0x10004, 7)
      host.write(0x50000, 8)
      clocks(50, hold = true)
      assert(host.written == 0)
      host.reads ++= Seq(0x10004, 0x20008, 0xff0000)
      clocks(50, hold = true)
      assert(host.answers == Seq(BigInt(201), BigInt(302), BigInt(0)))
      clocks(50, hold = false)
      assert(host.written == 2)
    }
  }
}
