"""`vermilion device`: the lane as a PCI Express endpoint for a vfio-user client; docs/device.md."""

import json
import os
from pathlib import Path

import click

from vermilion.console.screen import working
from vermilion.toolchain import build
from vermilion.values.fields import RATE_MAX, RATE_MIN, UserError

SOCKET_BYTES = 107  # of a path in a sockaddr_un, without its zero


def words(record: dict) -> str:
    """A hardware record as a file that is gone with the program which reads it."""
    fd = os.memfd_create("words")
    os.write(fd, json.dumps(record).encode())
    os.set_inheritable(fd, True)
    return f"/proc/self/fd/{fd}"


def pace(rate: str | None, speed: float | None) -> list[str]:
    from vermilion.values import units

    if rate is not None and speed is not None:
        raise UserError("--rate and --speed are both given; one sets the pace")
    if rate is not None:
        try:
            value = units.rate(rate)
        except ValueError as error:
            raise UserError(f"--rate {error}") from None
        if not RATE_MIN <= value <= RATE_MAX:
            raise UserError(f"--rate is {rate}; legal is 64kbit to 200Gbit")
        return ["--rate", str(value)]
    if speed is not None and not 1e-6 <= speed <= 1e6:
        raise UserError(f"--speed is {speed}; legal is 0.000001 to 1000000")
    return [] if speed is None else ["--speed", str(speed)]


def check_socket(what: str, path: str, made: bool = True):
    """Refuses a path where no socket can be; `made`: where the device cannot make one."""
    size, folder = len(os.fsencode(path)), Path(path).parent
    if not 1 <= size <= SOCKET_BYTES:
        raise UserError(f"{what} has a path of {size} bytes; legal are 1 to {SOCKET_BYTES}")
    try:
        if Path(path).is_dir():
            raise UserError(f"{what} {path}: is a folder; give a path in it")
        if Path(path).exists() and not Path(path).is_socket():
            raise UserError(f"{what} {path}: exists and is no socket; give another path")
        if not folder.is_dir():
            raise UserError(f"{what} {path}: the folder {folder} does not exist")
    except OSError as error:
        raise UserError(f"{what} {path}: cannot be a socket: {error.strerror}") from None
    if made and not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{what} {path}: the folder {folder} cannot be written to")


@click.command()
@click.argument("socket")
@click.option(
    "--preset", type=click.Choice(list(build.PRESETS)), default="lab", show_default=True, help="Build of the lane."
)
@click.option(
    "--config", "config_file", metavar="FILE", help="The lane's configuration at the start and behind every reset."
)
@click.option("--control", metavar="PATH", help="A second socket to feed, run and count: docs/device.md.")
@click.option("--capture", metavar="FILE", help="Feeds a pcap or pcapng as soon as the device is there.")
@click.option("--rate", metavar="R", help='Frames back to back at a line rate, such as "1Gbit", in lane time.')
@click.option("--speed", type=float, metavar="X", help="The capture's own pace, X times as fast (default 1).")
@click.option("--frames-from", metavar="PLACE", help="Takes frames, one a datagram, at a path or udp:HOST:PORT.")
@click.option("--frames-to", metavar="PLACE", help="Sends frames that leave, one a datagram.")
@click.option("--out", metavar="OUT.pcapng", help="Frames that leave, as a capture, there when the device ends.")
@click.option(
    "--wait", type=click.IntRange(0, 10**6), metavar="S", help="Ends if nobody comes for S seconds (60; 0: never)."
)
@click.option("--keep", is_flag=True, help="Waits for the next client when one has gone.")
@click.option("--paused", is_flag=True, help="The lane's clock runs for register access alone, and when told to.")
@click.option("--real-time", is_flag=True, help="Lane time follows the wall clock: docs/device.md.")
@click.option(
    "--nic", is_flag=True, help="The PCI function is that of a Corundum NIC, the registers BAR 2: docs/device.md."
)
@click.option("--fst", metavar="FILE", help="Waveform as FST (a build of its own).")
def device(
    socket, preset, config_file, control, capture, rate, speed, wait, keep, paused, real_time, nic, fst, **places
):
    """The lane in simulation as a PCI device: a vfio-user server at SOCKET, for QEMU and its like."""
    from vermilion.configuration import reports, rules
    from vermilion.configuration.config_file import load
    from vermilion.profile import quantise
    from vermilion.simulation import simulate

    command = ["--socket", socket, *pace(rate, speed)]
    check_socket("SOCKET", socket)
    for option, place in (
        ("control", control),
        ("frames-from", places["frames_from"]),
        ("frames-to", places["frames_to"]),
    ):
        if place is not None and not (place.startswith("udp:") and option != "control"):
            check_socket(f"--{option}", place, made=option != "frames-to")
    if paused and real_time:
        raise UserError("--paused and --real-time are both given; one sets lane time")
    if capture is not None:
        simulate.check_capture(Path(capture))
    elif speed is not None:
        raise UserError("--speed is of --capture, which is not given")
    record = None
    if config_file is not None:
        shape = build.PRESETS[preset]
        asked = load(config_file, shape.queues, shape.victims, shape.cells, build_aqms=shape.aqms)
        rules.refuse(asked, config_file, "a device")
        reports.refuse(asked.reports, config_file, "a device")
        record = quantise.hardware(asked)
    options = {"--control": control, "--capture": capture, "--wait": wait, "--fst": fst}
    options |= {"--" + name.replace("_", "-"): value for name, value in places.items()}
    for option, value in options.items():
        command += [] if value is None else [option, str(value)]
    command += ["--keep"] * keep + ["--paused"] * paused + ["--real-time"] * real_time + ["--nic"] * nic
    with working() as note:
        program = build.device(preset, "fst" if fst else "", note)
    if record is not None:
        command += ["--config-words", words(record)]
    os.execv(program, [str(program), *command])
