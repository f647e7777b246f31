package vermilion.lane

import java.io.{FileOutputStream, PrintStream}
import scala.io.Source

/** A main that writes SystemVerilog: by itself, or for [[EmitServer]]. */
trait Emitter {

  /** The words that it takes. */
  def usage: String

  /** Writes what the words ask for; false if they do not fit `usage`. */
  def emit(words: Seq[String]): Boolean

  final def main(args: Array[String]): Unit = if (!emit(args.toSeq)) {
    System.err.println(s"usage: $usage")
    sys.exit(2)
  }
}

/** Runs emitters one after the other in one JVM, since a JVM takes seconds to start and more to become fast. A request is a line of standard input,
  * `LOG<TAB>EMITTER<TAB>WORD...`; the answer is a line of standard output, `done` or `failed`. The file LOG gets all that is printed, and why a request
  * failed. The server ends with its input.
  */
object EmitServer {
  private def emitter(name: String): Emitter =
    Class.forName(s"$name$$").getField("MODULE$").get(null).asInstanceOf[Emitter]

  /** Whether the request succeeded. Everything that an elaboration throws is caught: the next request finds nothing of it. */
  private def served(log: PrintStream, name: String, words: Seq[String]): Boolean =
    try {
      val one = emitter(name)
      val fits = one.emit(words)
      if (!fits) log.println(s"usage: ${one.usage}")
      fits
    } catch {
      case failure: Throwable =>
        failure.printStackTrace(log)
        false
    }

  def main(args: Array[String]): Unit = {
    val (out, err) = (System.out, System.err)
    for (line <- Source.fromInputStream(System.in, "UTF-8").getLines()) {
      val request = line.split("\t", -1).toSeq
      val log = new PrintStream(new FileOutputStream(request.head), true, "UTF-8")
      System.setOut(log)
      System.setErr(log)
      val done =
        try Console.withOut(log)(Console.withErr(log)(served(log, request(1), request.drop(2))))
        finally {
          System.setOut(out)
          System.setErr(err)
          log.close()
        }
      out.println(if (done) "done" else "failed")
      out.flush()
    }
  }
}
