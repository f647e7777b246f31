package vermilion

import org.scalatest.tools.Runner
import vermilion.lane.Emitter

/** Runs suites of tests for [[vermilion.lane.EmitServer]], with the words of ScalaTest's own runner. */
object RunSuite extends Emitter {
  val usage = "RunSuite OPTIONS OF SCALATEST'S RUNNER; a test has failed"

  def emit(words: Seq[String]): Boolean = Runner.run(words.toArray)
}
