package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.formal.{Expected, StreamRules}

/** [[AxiLiteSlave]]: every request has one answer, in order; what is offered stays; no write is lost or done twice; `hold` keeps writes off.
  *
  * Assumed: the master keeps `valid` and what it offers until `ready`. Address, data, strobes, `ready` of both answers, `hold`, the register
  * file's data and a reset are free.
  */
class AxiLiteChecks extends Module {
  private val Bits = 4 // of an address
  val free = IO(Input(new Bundle {
    val awValid, wValid, arValid, bReady, rReady, hold = Bool()
    val aw, ar = UInt(Bits.W)
    val w = new AxiLiteWriteData
    val data = UInt(32.W)
  }))
  private val dut = Module(new AxiLiteSlave(Bits))
  private val axi = dut.io.axi
  StreamRules.offer(axi.aw, free.awValid && !reset.asBool, free.aw)
  StreamRules.offer(axi.w, free.wValid && !reset.asBool, free.w)
  StreamRules.offer(axi.ar, free.arValid && !reset.asBool, free.ar)
  axi.b.ready := free.bReady
  axi.r.ready := free.rReady
  dut.io.hold := free.hold
  dut.io.readData := free.data
  StreamRules.keeps("write answer", axi.b)
  StreamRules.keeps("read answer", axi.r)
  private def word(address: UInt) = address(Bits - 1, 2) ## 0.U(2.W)

  // ---- writes: addresses and data that were taken, and what is not answered yet
  private val addresses = new Expected(UInt(Bits.W), 2)
  private val datas = new Expected(new AxiLiteWriteData, 2)
  private val shown = dut.io.write
  private val strobes = datas.first.strb.orR
  private val unanswered = RegInit(0.U(2.W)) // writes that are done
  private val answerRises = axi.b.valid && !RegNext(axi.b.valid && !axi.b.ready, false.B)
  private val both = !addresses.empty && !datas.empty
  private val done = both && !axi.b.valid && !free.hold // a write without strobes is not shown
  addresses.move(axi.aw.fire, axi.aw.bits, done)
  datas.move(axi.w.fire, axi.w.bits, done)
  unanswered := unanswered + done - axi.b.fire
  assert(shown.valid === (done && strobes), "a write is lost, done twice, or done while held")
  when(shown.valid) {
    assert(shown.bits.address === word(addresses.first), "a write goes to another address")
    assert(shown.bits.data === datas.first.data, "a write has other data")
    val mask = Cat((3 to 0 by -1).map(i => Fill(8, datas.first.strb(i))))
    assert(shown.bits.mask === mask, "a write changes other bytes than its strobes say")
  }
  assert(axi.b.valid === (unanswered =/= 0.U), "a write has no answer, or two")
  assert(unanswered <= 1.U, "a write is done before the last is answered")
  assert(!answerRises || RegNext(done, false.B), "an answer comes without a write")
  assert(axi.b.bits === 0.U && axi.r.bits.resp === 0.U, "an answer is not OKAY")
  assert(axi.aw.ready === addresses.empty && axi.w.ready === datas.empty, "a write waits though none is before it")

  // ---- reads: one at a time
  private val reading = RegInit(false.B)
  private val age = RegInit(0.U(3.W)) // clocks since the address, up to 4
  private val address = RegEnable(axi.ar.bits, axi.ar.fire)
  private val expectedData = RegEnable(free.data, age === 3.U)
  when(axi.r.fire) { reading := false.B }
  when(reading && age =/= 4.U) { age := age + 1.U }
  when(axi.ar.fire) {
    reading := true.B
    age := 1.U
  }
  assert(!axi.ar.fire || !reading, "a read is taken while another waits")
  assert(!axi.r.valid || reading, "a read is answered that was not asked, or twice")
  assert(
    axi.r.valid === (reading && age === 4.U),
    "a read is answered at another time than 4 clocks behind its address"
  )
  assert(!axi.r.valid || axi.r.bits.data === expectedData, "a read gives other data than the register had")
  assert(!reading || dut.io.readAddress === word(address), "a read looks at another address")
  assert(reading || axi.ar.ready, "a read is not taken though none waits")

  // ---- reset
  private val afterReset = RegNext(reset.asBool, true.B)
  assert(!afterReset || (!axi.b.valid && !axi.r.valid && !shown.valid), "an answer or a write outlives a reset")
}
