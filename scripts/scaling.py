#!/usr/bin/python3
"""Scaling over ranks: measured with tagflow bench, or by the model of docs/scaling.md.

    scripts/scaling.py measure --ranks 1,2 --weak 64 --strong 128 --output scaling
    scripts/scaling.py measure --launcher "srun -n {n}" --ranks 8,64,512 --weak 512 --strong 2048 --output scaling
    scripts/scaling.py model
    scripts/scaling.py model --machine cluster.yaml --bench bench.json --devices 4,16,64
    scripts/scaling.py model --check scaling/scaling.json

`measure` runs every number of ranks with so many cells a rank (weak), and the same box on all of them (strong), and
writes scaling.csv, scaling.json and scaling.png into a folder. `model` makes a table of what `tagflow check --machine`
predicts for periodic boxes.
"""
import argparse
import re
import signal
import sys

import scaling_measure
import scaling_predict
from bench_file import number
from command_line import Wrong, quoted


def positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not number(value):
        raise argparse.ArgumentTypeError(f"{quoted(text)!r} is not a number above 0")
    return value


def natural(text):
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{quoted(text)!r} is not a whole number above 0")
    return int(text)


def naturals(text):
    values = [natural(word) for word in text.split(",")]
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"{quoted(text)!r} names a number twice")
    return sorted(values)


def box(text):
    """'64' or '64,32,32' (or 64x32x32) as three numbers."""
    words = re.split(r"[,x]", text)
    if len(words) not in (1, 3):
        raise argparse.ArgumentTypeError(f"{quoted(text)!r} is neither N nor NX,NY,NZ")
    values = [natural(word) for word in words]
    if max(values) > 1 << 20:
        raise argparse.ArgumentTypeError(f"{quoted(text)!r}: more than {1 << 20} cells along an axis")
    return tuple(values * 3 if len(values) == 1 else values)


def word(text):
    """One name as bench takes it: a list would make several rows of one run."""
    if not re.fullmatch(r"[a-z0-9_]+", text) or text == "all":
        raise argparse.ArgumentTypeError(f"{quoted(text)!r} is not one name")
    return text


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(f"{' '.join(message.split())} (see --help)")


def add_measure(commands):
    parser = commands.add_parser("measure", help="run tagflow bench on several numbers of ranks")
    parser.add_argument("--ranks", metavar="N,...", type=naturals, required=True, help="numbers of ranks")
    parser.add_argument("--weak", metavar="N|NX,NY,NZ", type=box, help="cells a rank")
    parser.add_argument("--strong", metavar="N|NX,NY,NZ", type=box, help="cells of the whole box")
    parser.add_argument("--output", metavar="DIR", required=True, help="where scaling.csv, .json and .png go")
    parser.add_argument("--force", action="store_true", help="replace what is there of an earlier measurement")
    parser.add_argument("--launcher", metavar="COMMAND", default="mpirun -n {n}",
                        help="what starts {n} ranks (default: mpirun -n {n})")
    parser.add_argument("--tagflow", metavar="PROGRAM", default="tagflow", help="the program (default: tagflow in PATH)")
    parser.add_argument("--case", type=word, default="periodic", help="of bench (default: periodic)")
    parser.add_argument("--collision", type=word, default="bgk", help="(default: bgk)")
    parser.add_argument("--storage", type=word, default="fp32", help="(default: fp32)")
    parser.add_argument("--threads", type=natural, default=1, help="of each rank (default: 1)")
    parser.add_argument("--seconds", type=positive, help="of a repeat; bench's own choice unless given")
    parser.add_argument("--repeat", type=natural, help="repeats of each run; bench's own choice unless given")
    parser.add_argument("--rounds", metavar="N", type=natural, default=1,
                        help="go through all runs so many times, to see other minutes of the machine (default: 1)")
    parser.add_argument("--timeout", metavar="SECONDS", type=positive, default=1800, help="of one run (default: 1800)")
    parser.add_argument("more", metavar="...", nargs="*", help="after --: more arguments for tagflow bench")
    parser.set_defaults(act=scaling_measure.measure)


def add_model(commands):
    parser = commands.add_parser("model", help="compute the time of a step on many GPUs, or check the model against a measurement")
    parser.add_argument("--check", metavar="scaling.json", nargs="+",
                        help="compare with what `measure` wrote, in place of predicting")
    parser.add_argument("--bench", metavar="FILE.json", help="take the device's speed from this bench on one rank")
    parser.add_argument("--glups", type=positive, help="the device's speed in place of that")
    parser.add_argument("--devices", metavar="N,...", type=naturals, default=[8, 64, 512, 4096], help="(default: 8,64,512,4096)")
    parser.add_argument("--weak", metavar="N|NX,NY,NZ", type=box, default=(512,) * 3, help="cells a device (default: 512)")
    parser.add_argument("--strong", metavar="N|NX,NY,NZ", type=box, action="append",
                        help="cells in all; may be given more than once (default: 1024 and 2048)")
    parser.add_argument("--storage", choices=("fp16", "fp32", "fp64"), default="fp32", help="(default: fp32)")
    parser.add_argument("--machine", metavar="FILE", help="bandwidths and latencies, as for tagflow check (default: assumed)")
    parser.add_argument("--tagflow", metavar="PROGRAM", default="tagflow", help="the program (default: tagflow in PATH)")
    parser.add_argument("--csv", metavar="FILE.csv", help="write the table into a file, too")
    parser.set_defaults(act=scaling_predict.model)


def main():
    parser = Parser(prog="scaling.py", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
                    epilog="Exit status: 0 done, 1 a run or the machine failed, 2 wrong usage or files.")
    commands = parser.add_subparsers(metavar="measure|model", required=True, parser_class=Parser)
    add_measure(commands)
    add_model(commands)
    # A job that is ended takes the run under way with it, and leaves no half files.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        arguments = parser.parse_args()
        arguments.act(arguments)
    except Wrong as error:
        print(f"scaling: {error}", file=sys.stderr)
        return 2
    except scaling_measure.Failed as error:
        print(f"scaling: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or error or "out of memory"
        name = getattr(error, "filename", None)
        print(f"scaling: {quoted(name) + ': ' if name else ''}{quoted(reason)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
