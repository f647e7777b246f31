package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._

/** What an [[UpdateSweep]] needs of a controller's settings. */
class UpdateSettings extends Bundle {
  val on = Bool()
  val interval = UInt(UpdateSweep.IntervalBits.W) // T_update, in ticks; 1 and more
}

/** A controller whose update is due. */
class DueUpdate(indexBits: Int) extends Bundle {
  val index = UInt(indexBits.W)
  val begins = Bool() // a new state instead
}

/** Asks for the update of every controller once per its own T_update. A controller is a queue's PIE or a pair's DualPI2.
  *
  * A tick is 2^16 ns. A pass over all controllers begins with the tick in which one is due, and after a configuration. A controller takes 3 or 4 cycles of it. One that
  * is updated takes 3 more than the cycles of its update. If a pass takes longer than until the next controller is due, another one follows at once.
  *
  * A controller is due T_update after it was due before. If that time is past, or more than T_update ahead, because the clock was set, it is due now, and then
  * T_update from now.
  *
  * A controller that is turned on begins with a new state in the pass that follows, and is `active` from then on. Its first update comes T_update later. One
  * that is turned off and on again before a pass reaches it keeps its state.
  *
  * `index` is the controller whose `settings` are wanted one cycle later. It does not change until its update is asked for. `wake` is when the next
  * pass begins. `busy` is low until then, unless something is configured.
  *
  * @param controllers their number, 1 and more
  */
class UpdateSweep(controllers: Int) extends Module {
  import UpdateSweep._
  private val indexBits = log2Ceil(controllers).max(1)

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W)) // ns
    val configured = Input(Bool())
    val index = Output(UInt(indexBits.W))
    val settings = Input(new UpdateSettings)
    val update = Decoupled(new DueUpdate(indexBits))
    val query = Input(UInt(indexBits.W))
    val active = Output(Bool()) // that of `query`, one cycle later
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
    val ready = Output(Bool())
  })
  private object State extends ChiselEnum { val Idle, Read, Load, Ask, Note, Wait = Value }
  private val active = new ForwardingRam(controllers, Bool()).suggestName("active")
  private val dueTicks = new ForwardingRam(controllers, UInt(TickBits.W)).suggestName("dueTicks")
  private val sweep = new SweepInit(controllers)
  private val state = RegInit(State.Idle)
  private val index = RegInit(0.U(indexBits.W))
  private val asked = RegInit(false.B) // a pass is wanted at once
  private val armed = RegInit(false.B) // a pass is wanted at tick `next`
  private val next, passTick, soonest = Reg(UInt(TickBits.W))
  private val horizon = Reg(UInt(IntervalBits.W)) // ticks from the last pass to `next`
  private val found = Reg(Bool()) // `soonest` holds a tick: the least at which a controller of this pass is due
  private val tick = io.now(TickShift + TickBits - 1, TickShift)
  io.ready := sweep.done
  io.index := index
  io.active := active.read(io.query)

  /** The tick is ahead, by at most `most`. */
  private def isAhead(x: UInt, most: UInt): Bool = Arithmetic.wrap(x - tick - 1.U, TickBits) < most

  // Of the controller at `index`, from the memories: comparisons begin a cycle later.
  private val loads = state === State.Load
  private val settings = RegEnable(io.settings, loads)
  private val isActive = RegEnable(active.read(index), loads)
  private val due = RegEnable(dueTicks.read(index), loads)
  private val isDue = !isActive || !isAhead(due, settings.interval)
  private val following = Arithmetic.wrap(due + settings.interval, TickBits)
  private val nextDue = Mux(
    isActive && isAhead(following, settings.interval),
    following,
    Arithmetic.wrap(tick + settings.interval, TickBits)
  )
  io.update.valid := state === State.Ask && settings.on && isDue
  io.update.bits.index := index
  io.update.bits.begins := !isActive

  private val isNextReached = armed && !isAhead(next, horizon)
  private val finds = WireInit(false.B) // the controller of this pass is due later, at `laterDue`
  private val laterDue = RegEnable(Mux(isDue, nextDue, due), state === State.Ask)
  private val untilLater = Arithmetic.wrap(laterDue - passTick, TickBits)
  private val untilSoonest = Arithmetic.wrap(soonest - passTick, TickBits)
  private val isSooner = !found || untilLater < untilSoonest
  when(finds) {
    found := true.B
    when(isSooner) { soonest := laterDue }
  }
  private def advance(): Unit = {
    index := index + 1.U
    state := State.Read
    when(index === (controllers - 1).U) {
      index := 0.U
      state := State.Idle
      armed := found || finds
      next := Mux(finds && isSooner, laterDue, soonest)
      horizon := Arithmetic.wrap(Mux(finds && isSooner, untilLater, untilSoonest), IntervalBits)
      when(isAhead(passTick, MostInterval.U)) { asked := true.B } // the clock was set back in this pass
    }
  }
  private val turnsOff, turnsOn = WireInit(false.B)
  switch(state) {
    is(State.Idle) {
      when(sweep.done && (asked || isNextReached)) {
        state := State.Read
        passTick := tick
        found := false.B
        asked := false.B
      }
    }
    is(State.Read) { state := State.Load }
    is(State.Load) { state := State.Ask }
    is(State.Ask) {
      when(!settings.on) {
        turnsOff := true.B
        advance()
      }.elsewhen(!isDue) { state := State.Note }
        .elsewhen(io.update.ready) { state := State.Wait }
    }
    is(State.Note) {
      finds := true.B
      advance()
    }
    is(State.Wait) {
      when(io.update.ready) {
        turnsOn := true.B
        finds := true.B
        advance()
      }
    }
  }
  when(io.configured) { asked := true.B }
  active.write(!sweep.done, sweep.address, false.B)
  active.write(turnsOff || turnsOn, index, turnsOn)
  dueTicks.write(!sweep.done, sweep.address, 0.U)
  dueTicks.write(io.update.fire, index, nextDue)

  private val ticks = io.now >> TickShift
  private val untilNext = Arithmetic.wrap(next - tick, TickBits)
  io.wake.valid := armed && !io.busy
  io.wake.bits := Arithmetic.wrap(ticks + untilNext, TimeBits - TickShift) ## 0.U(TickShift.W)
  io.busy := !sweep.done || state =/= State.Idle || asked || isNextReached
}

object UpdateSweep {
  val TickShift = 16 // ns in a tick, as a power of two
  val IntervalBits = 14
  private val TickBits = 20
  private val MostInterval = (1 << IntervalBits) - 1
}
