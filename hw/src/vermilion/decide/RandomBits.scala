package vermilion.decide

import chisel3._
import chisel3.util._

/** A bit-serial [[RandomSource]]: the same draws, each from its lowest bit, for users that need one bit per cycle at most.
  *
  * Its state circulates in four shift registers. The data path is one bit wide, so it takes a third of the logic.
  *
  * `bit` is the next bit while `valid` is high. `take` consumes it. A pass takes 32 cycles:
  * {{{
  *   Check  is the seed 0?     Load  if not, it becomes the state      Add   u = s0 + s3      Draw  bits of rotl(u, 7) + s0; the state steps
  * }}}
  * rotl(u, 7) is read from the register of u as it circulates. After a step, s3 is rotated 11 bits too low. The next addition corrects that.
  *
  * A seed may come in any cycle. The draw in progress is completed first, so the state is always one of the generator's. The first bit is `valid`
  * 64 to 192 cycles after the seed.
  */
class RandomBits extends Module {
  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val take = Input(Bool())
    val valid = Output(Bool())
    val bit = Output(Bool())
  })
  private object Pass extends ChiselEnum { val Check, Load, Add, Draw = Value }
  private val pass = RegInit(Pass.Check)
  private val at = RegInit(0.U(5.W))
  private val waits = RegInit(false.B) // a seed waits
  private val waiting = RegEnable(io.seed.bits, io.seed.valid)
  private val seed = RegInit(Cat(RandomSource.resetState.reverse.map(_.U(32.W))))
  private val step = pass =/= Pass.Draw || io.take || waits
  private val last = step && at.andR

  // ---- The state and its input ----------------------------------------------------------------------------------------
  private val s = Reg(Vec(4, UInt(32.W)))
  private val out = VecInit(s.map(_(0)))
  private val u = Reg(UInt(32.W))
  private val out1 = Reg(UInt(9.W)) // the last bits shifted out of s1, 0 before the first
  private val out3 = Reg(UInt(11.W)) // the last bits shifted out of s3
  private val carry = Reg(Bool())
  private val seedBits = VecInit(Seq.tabulate(4) { k =>
    val word = seed(32 * k + 31, 32 * k)
    (if (k == 3) Cat(word(10, 0), word(31, 11)) else word) (at)
  })
  private val adds = pass === Pass.Add
  private val right3 = Mux(at < 11.U, s(3)(21), out3(10))
  private val other = Mux(adds, right3, u(25))
  private val sum = out(0) +& other +& carry
  io.bit := sum(0)
  io.valid := pass === Pass.Draw && !waits

  private val x2 = out(2) ^ out(0)
  private val x3 = out(3) ^ out(1)
  private val stepped = Seq(out(0) ^ x3, out(1) ^ x2, x2 ^ out1(8), x3)
  private val turned = Seq(out(0), out(1), out(2), right3)
  when(step) {
    for (k <- 0 until 4) {
      val next = Mux(pass === Pass.Load, seedBits(k), Mux(adds, turned(k), stepped(k)))
      when(pass =/= Pass.Check) { s(k) := Cat(next, s(k)(31, 1)) }
    }
    u := Cat(Mux(adds, sum(0), u(0)), u(31, 1))
    out1 := Mux(adds, 0.U, Cat(out1(7, 0), out(1)))
    out3 := Cat(out3(9, 0), out(3))
    carry := !last && (adds || pass === Pass.Draw) && sum(1)
  }

  // ---- Sequence of passes -------------------------------------------------------------------------------------------
  private val some = RegNext(seed.orR) // the seed is stable for a whole pass before this is used
  when(step) { at := at + 1.U }
  when(last) {
    when(pass === Pass.Check && some) { pass := Pass.Load }
      .elsewhen(adds) { pass := Pass.Draw }
      .elsewhen(waits) {
        pass := Pass.Check
        seed := waiting
        waits := false.B
      }
      .otherwise { pass := Pass.Add }
  }
  when(io.seed.valid) { waits := true.B }
}
