import mill._, scalalib._, scalafmt._

object hw extends ScalaModule with ScalafmtModule {
  def scalaVersion = "2.13.16"
  def scalacOptions = Seq("-deprecation", "-feature", "-language:reflectiveCalls", "-Xlint:infer-any", "-Ymacro-annotations",
    "-Xfatal-warnings", "-Wunused:imports,locals")
  def ivyDeps = Agg(mvn"org.chipsalliance::chisel:7.14.0")
  def scalacPluginIvyDeps = Agg(mvn"org.chipsalliance:::chisel-plugin:7.14.0")
  object test extends ScalaTests with TestModule.ScalaTest with ScalafmtModule {
    def ivyDeps = Agg(mvn"org.scalatest::scalatest:3.2.19")
  }
}
