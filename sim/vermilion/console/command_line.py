"""What the command lines `vermilion` and `vermilionctl` share: their version, and completion in a shell."""

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[3]


def commit() -> str:
    """The commit of the checkout that this file is in; "unknown" outside a checkout, and where git cannot tell."""
    if not (ROOT / ".git").exists():
        released = Path(__file__).resolve().parents[1] / "COMMIT"  # in the wheel of a release
        return released.read_text().strip() if released.exists() else "unknown"
    command = ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty= with changes"]
    # A hook's GIT_DIR names another repository; the check for changes must not wait for a lock.
    environment = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 and done.stdout.strip() else "unknown"


def project() -> str:
    """Version of the project: of the checkout's pyproject.toml, or of the installed package."""
    file = ROOT / "pyproject.toml"
    if file.exists():
        with file.open("rb") as opened:
            return tomllib.load(opened)["project"]["version"]
    return importlib.metadata.version("vermilion")


def register_map() -> str:
    """Version of the lane's register map, as hw/regs/vermilion.rdl gives it to the driver's header."""
    from vermilion.hardware.driver_library import SOURCES, constants

    held = constants((SOURCES / "vm_regs.h").read_text())
    return ".".join(str(held.get(f"VM_REG_VERSION_{part}_RESET", 0)) for part in ("MAJOR", "MINOR"))


def version_option(program: str):
    """`--version` of a command line."""

    def show(context, _parameter, asked):
        if asked and not context.resilient_parsing:
            click.echo(f"{program} {project()}, commit {commit()}, register map {register_map()}")
            context.exit()

    text = "Shows the version, the commit and the version of the register map."
    return click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=show, help=text)


def completion_script(cli, program: str, shell: str) -> str:
    """What makes `shell` complete the program's words; file names where nothing else fits."""
    from click.shell_completion import BashComplete, get_completion_class

    class Bash(BashComplete):
        """It would start a bash to ask for its version; what it prints works from 4.4 on."""

        @staticmethod
        def _check_version() -> None:
            pass

    kind = Bash if shell == "bash" else get_completion_class(shell)
    if kind is None:
        raise ValueError(f"{shell}: click completes nothing in this shell")
    made = kind(cli, {}, program, f"_{program.upper()}_COMPLETE")
    script = made.source()
    if shell == "bash":
        script = script.replace("bash_complete $1)", 'bash_complete "${1/#\\~\\//$HOME/}")')
        script = script.replace("-o nosort -F", "-o nosort -o bashdefault -o default -F")
    if shell == "zsh":  # click asks the program in PATH; here it is the one that is being typed, such as ./vermilion
        script = script.replace(f"    (( ! $+commands[{program}] )) && return 1\n", "")
        script = script.replace(f"zsh_complete {program})", "zsh_complete ${~words[1]})")
        script = script.replace(
            "-a completions\n    fi\n", '-a completions\n    fi\n    [[ -n "$response" ]] || _files\n'
        )
    return script


def printable_everywhere():
    """Text that the terminal's encoding lacks is printed as an escape, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
