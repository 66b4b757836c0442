"""How scripts beside this one read their options and end: 2 for the user's mistake, 1 for the machine's."""
import argparse
import os
import sys

# The package tagflow is beside the folder of the scripts: in the sources, where `meson install` puts them, in a bundle.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "src"))
try:
    # Wrong: the user's mistake, or a file that is none of ours, in one line.
    from tagflow.errors import TagflowError as Wrong, quoted
except ImportError as missing:
    print(f"{os.path.basename(sys.argv[0])}: there is no Python package tagflow ({missing}): pip install ../python, seen from "
          "the folder of the scripts", file=sys.stderr)
    sys.exit(1)


class Parser(argparse.ArgumentParser):
    """The options of a script, whose text is its help; a mistake is Wrong."""

    def __init__(self, name, text, wrong):
        super().__init__(prog=name, formatter_class=argparse.RawDescriptionHelpFormatter, description=text,
                         epilog=f"Exit status: 0 done, 1 the machine failed, 2 wrong usage or {wrong}.")

    def error(self, message):
        raise Wrong(f"{' '.join(message.split())} (see --help)")


def check_output(path, endings):
    """Wrong if no file of this name, with one of these endings, can be made."""
    if os.path.splitext(path)[1] not in endings:
        names = ", ".join(endings[:-1]) + " or " + endings[-1] if len(endings) > 1 else endings[0]
        raise Wrong(f"--output {quoted(path)}: its name must end in {names}")
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
        raise Wrong(f"--output {quoted(path)}: " + ("is a folder" if os.path.isdir(path) else "there is no such folder"))


def ended(name, what, work):
    """The exit status of a script of this name that makes this; work() does it."""
    try:
        work()
    except Wrong as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_status
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or error or "out of memory"
        print(f"{name}: cannot write the {what}: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
