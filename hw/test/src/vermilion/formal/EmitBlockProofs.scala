package vermilion.formal

import _root_.circt.stage.ChiselStage
import chisel3.RawModule
import vermilion.average.QueueStateLookupChecks
import vermilion.control.AxiLiteChecks
import vermilion.fixed.MemoryKind
import vermilion.lane.{EmitOptions, Emitter}
import vermilion.queue._
import vermilion.rewrite.RewriteChecks
import vermilion.schedule.{EgressBounds, EgressChecks}
import vermilion.stats.RecordRamChecks
import vermilion.stream._

/** The proofs of single blocks, each on a small build; `sim/vermilion/formal/block_proofs.py` has the same names. */
object BlockProofs {
  private def lane = new SmallLane(queues = 2, cells = 4)
  private def judged = new SmallLane(queues = 2, cells = 4, codel = true)
  private def flows = new SmallLane(queues = 2, cells = 4, codel = true, fq = true)
  val all: Seq[(String, () => RawModule)] = Seq(
    "free-list-2" -> (() => new Proof(new FreeListChecks(new SmallLane(queues = 2, cells = 2)))(_.free)),
    "queues" -> (() => new Proof(new QueueChecks(lane))(_.free)),
    "free-list" -> (() => new Proof(new FreeListChecks(lane))(_.free)),
    "reader" -> (() => new Proof(new ReaderChecks(lane), resets = true)(_.free)),
    "rewrite" -> (() => new Proof(new RewriteChecks(lane), resets = true)(_.free)),
    "gather-64" -> (() => new Proof(new GatherChecks(64), resets = true)(_.free)),
    "gather-512" -> (() => new Proof(new GatherChecks(512), resets = true)(_.free)),
    "serializer-64" -> (() => new Proof(new SerializerChecks(64), resets = true)(_.free)),
    "serializer-512" -> (() => new Proof(new SerializerChecks(512), resets = true)(_.free)),
    "axi-lite" -> (() => new Proof(new AxiLiteChecks, resets = true)(_.free)),
    "scheduler" -> (() => new Proof(new EgressChecks(lane, EgressBounds.First))(_.free)),
    "scheduler-flush" -> (() => new Proof(new EgressChecks(lane, EgressBounds.First, flushes = true))(_.free)),
    "scheduler-verdicts" -> (() => new Proof(new EgressChecks(judged, EgressBounds.Judged))(_.free)),
    "scheduler-flows" -> (() => new Proof(new EgressChecks(flows, EgressBounds.Judged))(_.free)),
    "scheduler-later" -> (() => new Proof(new EgressChecks(lane, EgressBounds.Later))(_.free)),
    "ageing" -> (() => new Proof(new QueueStateLookupChecks(lane))(_.free)),
    "counters" -> (() => new Proof(new RecordRamChecks(queues = 2, slots = 2, bits = 2))(_.free))
  )
}

/** Writes the SystemVerilog of every proof into a folder of its name: `EmitBlockProofs DIRECTORY`. Memories are those of builds with many
  * records, which forward; the others have less to go wrong.
  */
object EmitBlockProofs extends Emitter {
  def usage: String = "EmitBlockProofs DIRECTORY"

  def emit(words: Seq[String]): Boolean = words match {
    case Seq(directory) =>
      for ((name, proof) <- BlockProofs.all)
        MemoryKind.lutDepth.withValue(0) {
          val words = Array("--target-dir", s"$directory/$name", "--split-verilog")
          ChiselStage.emitSystemVerilogFile(proof(), words, EmitOptions.proof)
        }
      true
    case _ => false
  }
}
