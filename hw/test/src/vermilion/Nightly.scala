package vermilion

/** What takes too long for every run (docs/changing.md). */
object Nightly {
  val is: Boolean = sys.env.get("VERMILION_LONG").exists(_.nonEmpty)
}
