package vermilion.lane

import java.io.{FileOutputStream, PrintStream}
import scala.io.Source

/** A main program that writes SystemVerilog, alone or within [[EmitServer]]. */
trait Emitter {

  /** The words that it accepts. */
  def usage: String

  /** Writes what the words request. Returns false if they do not match `usage`. */
  def emit(words: Seq[String]): Boolean

  final def main(args: Array[String]): Unit = if (!emit(args.toSeq)) {
    System.err.println(s"usage: $usage")
    sys.exit(2)
  }
}

/** Writes a named build, `PRESET DIRECTORY [synthesis]`. With `synthesis`, assertions are omitted. */
trait PresetEmitter extends Emitter {

  /** True if the preset exists. */
  def known(preset: String): Boolean

  def write(preset: String, directory: String, options: Array[String]): Unit

  final def emit(words: Seq[String]): Boolean = words match {
    case Seq(preset, directory, last @ _*) if known(preset) && (last.isEmpty || last == Seq("synthesis")) =>
      write(preset, directory, if (last.isEmpty) EmitOptions.firtool else EmitOptions.synthesis)
      true
    case _ => false
  }
}

/** Runs emitters one after another in one JVM.
  *
  * A JVM takes seconds to start, and longer to reach its full speed. A request is a line of standard input, `LOG<TAB>EMITTER<TAB>WORD...`. The answer
  * is a line of standard output: `done`, `failed`, or `failed for good`. The file LOG receives all that is printed, and the reason of a failure.
  * The server ends at the end of its input, and after `failed for good`. The cause is then a class that could not be initialised, or a lack of memory.
  * Later requests would fail too.
  */
object EmitServer {
  private def emitter(name: String): Emitter =
    Class.forName(s"$name$$").getField("MODULE$").get(null).asInstanceOf[Emitter]

  private val Last = "failed for good"

  /** The answer to a request. */
  private def served(log: PrintStream, name: String, words: Seq[String]): String =
    try {
      val one = emitter(name)
      if (one.emit(words)) "done"
      else {
        log.println(s"usage: ${one.usage}")
        "failed"
      }
    } catch {
      case failure @ (_: LinkageError | _: VirtualMachineError) =>
        failure.printStackTrace(log)
        Last
      case failure: Throwable =>
        failure.printStackTrace(log)
        "failed"
    }

  def main(args: Array[String]): Unit = {
    val (out, err) = (System.out, System.err)
    val requests = Source.fromInputStream(System.in, "UTF-8").getLines()
    var answer = ""
    while (answer != Last && requests.hasNext) {
      val request = requests.next().split("\t", -1).toSeq
      val log = new PrintStream(new FileOutputStream(request.head), true, "UTF-8")
      System.setOut(log)
      System.setErr(log)
      try answer = Console.withOut(log)(Console.withErr(log)(served(log, request(1), request.drop(2))))
      finally {
        System.setOut(out)
        System.setErr(err)
        log.close()
      }
      out.println(answer)
      out.flush()
    }
  }
}
