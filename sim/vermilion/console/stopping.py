"""What a command does when a signal asks it to end."""

import signal


class Stopped(BaseException):
    """A signal asked the command to end; `left`: what becomes of its outputs."""

    left = "nothing is written"


def stop(number, _frame):
    """Ends the command as an error does, so that programs it runs end first and unfinished outputs go; once is enough."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def listen():
    """SIGINT and SIGTERM end the command."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
