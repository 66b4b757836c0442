#!/usr/bin/python3
"""Makes the man page and the bash completion of tagflow from what the program says of itself: `tagflow --help`,
`tagflow COMMAND --help` and `tagflow keys`. The build calls it.

    src/cli/pages.py TAGFLOW VERSION MAN COMPLETION
"""
import os
import re
import subprocess
import sys


def said(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode or not done.stdout:
        sys.exit(f"pages.py: {program} {' '.join(arguments)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def entries(lines, pattern):
    """Lines that fit the pattern (name, text), each with the deeper lines below it: [name, text]."""
    found, column = [], 0
    for line in lines:
        start = re.match(pattern, line)
        if start:
            found.append([start[1], start[2]])
            column = start.start(2)
        elif found and line.strip() and len(line) - len(line.lstrip()) >= column:
            found[-1][1] += " " + line.strip()
        else:
            column = len(line) + 1000  # the entry has ended
    return found


class Command:
    """What the help of a command says: usage, options with {name: argument or None}, texts of options, prose."""

    def __init__(self, program, name, meaning):
        self.name, self.meaning = name, meaning
        lines = said(program, name, "--help").splitlines()
        blank = lines.index("")
        self.usage = re.sub(r"\s+", " ", " ".join(lines[:blank]))
        self.options = {option: argument or None for option, argument in
                        re.findall(r"(--[a-z-]+)(?: (?!\|)([^\]\s]+))?", self.usage)}
        lines = lines[blank + 1:]
        self.texts = entries(lines, r"  (--[a-z-]+(?: \S+)?) +(\S.*)")
        prose = [line for line in lines if not line.startswith("  ")]
        self.prose = [re.sub(r"\s+", " ", part).strip() for part in "\n".join(prose).split("\n\n") if part.strip()]
        for option, _ in self.texts:
            if option.split()[0] not in self.options:
                sys.exit(f"pages.py: {option} of tagflow {name} is not in its usage")


def read(program):
    """Title, commands and closing text of the general help."""
    lines = said(program, "--help").splitlines()
    commands = [Command(program, name.split()[0], text) for name, text in
                entries(lines, r"  tagflow (\w+ +[A-Z[]\S*(?: \S+)*) {2,}(\S.*)")]
    if not commands or not any(c.options for c in commands):
        sys.exit("pages.py: no commands or no options in tagflow --help")
    end = next(k for k, line in enumerate(lines) if line.startswith("Exit status:"))
    return lines[0].split(": ", 1)[1], commands, " ".join(lines[end:])


# ---- the man page ----

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def bold(text):
    return ".B " + roff(text)


def option_line(option):
    name, _, argument = option.partition(" ")
    return f".BI {roff(name)} \" {roff(argument)}\"" if argument else bold(name)


def man(version, title, commands, status):
    out = [f'.TH TAGFLOW 1 "" "tagflow {version}" "User Commands"', ".SH NAME", f"tagflow \\- {roff(title)}", ".SH SYNOPSIS"]
    for c in commands:
        first, rest = c.usage.split(" ")[:2], c.usage.split(" ", 2)[2] if c.usage.count(" ") > 1 else ""
        # Brackets stay whole where lines are broken.
        words = re.findall(r"\[[^\]]*\](?:\.\.\.)?|\S+", rest)
        out += [".HP", f".B {' '.join(first)}"] + [roff(word).replace(" ", "\\ ") for word in words]
    out += [".PP", bold("tagflow --help"), ".br", bold("tagflow COMMAND --help"), ".br", bold("tagflow --version"), ".SH COMMANDS"]
    for c in commands:
        out += [f".SS tagflow {c.name}", roff(c.meaning[0].upper() + c.meaning[1:] + ".")]
        for option, text in c.texts:
            out += [".TP", option_line(option), roff(text)]
        for part in c.prose:
            out += [".PP", roff(part)]
    out += [".SH EXIT STATUS"]
    for number, text in re.findall(r"(\d+) (.*?)(?:, (?=\d)|\.?$)", status.split(":", 1)[1].strip()):
        out += [".TP", f".B {number}", roff(text)]
    out += [".SH FILES", ".TP", ".I share/tagflow/configs", "Example cases, below the prefix of the installation.",
            ".TP", ".I share/tagflow/scripts", "Scripts that draw, join and report results, make meshes, and submit jobs. Each has a",
            bold("--help") + ".", ".SH EXAMPLES", ".nf"]
    out += [roff(line) for line in (
        "tagflow check cavity.yaml", "tagflow run cavity.yaml --output runs/cavity --set run.steps=20000",
        "mpirun -n 4 tagflow run cavity.yaml --restart auto", "tagflow keys output.series")]
    out += [".fi", ".SH SEE ALSO", ".BR mpirun (1)"]
    return "\n".join(out) + "\n"


# ---- the completion ----

def choices(argument, text, option, keys):
    """Words that may follow an option, and whether a file or a folder may."""
    words = [word for word in argument.split("|") if not word.isupper()] if "|" in argument else []
    if argument == "LIST":
        named = re.search(r"\bof ((?:\w+, )+)or all", text)
        words = (named[1].split(", ")[:-1] if named else keys.get("solver." + option[2:], [])) + ["all"]
    return words, "-d" if argument == "DIR" else "-f" if "FILE" in argument.split("|") else ""


def read_keys(program):
    """{path: the words that it takes}; names that the user chooses are <...> in paths."""
    keys, path = {}, None
    for line in said(program, "keys").splitlines():
        if not line.startswith(" "):
            path = re.sub(r"\*", "<name>", line)
            keys[path] = []
        elif line.startswith("    type: one of "):
            keys[path] = re.findall(r"\w+", line.split(" one of ")[1].split(";")[0].split(", or ")[0])
    if "run.steps" not in keys:
        sys.exit("pages.py: tagflow keys does not name run.steps")
    return keys


COMPLETION = r"""# bash completion of tagflow, made from its help when it was built

_tagflow_keys='
%(keys)s
'

# Paths of keys. <name> stands for a name that is already in WORD, and ends the path where it is not.
_tagflow_paths() { # WORD
    local path parts given whole i
    IFS=. read -ra given <<<"$1."
    for path in $_tagflow_keys; do
        IFS=. read -ra parts <<<"$path"
        whole=
        for i in "${!parts[@]}"; do
            if [[ ${parts[i]} == '<'* ]]; then
                [[ -n ${given[i]-} && $1 == *"${given[i]}."* ]] || break
                parts[i]=${given[i]}
            fi
            whole+=${whole:+.}${parts[i]}
        done
        printf '%%s\n' "$whole"
    done
}

_tagflow() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
    local words='' files=''
    COMPREPLY=()
    # bash cuts words at '=': A=B is A, =, B here.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        words='%(commands)s --help --version'
    elif [[ $previous == --set ]]; then
        compopt -o nospace
        mapfile -t COMPREPLY < <(compgen -S = -W "$(_tagflow_paths "$current")" -- "$current")
        return
    else
        case $command:$previous in
%(values)s
        *) case $previous in
%(of_keys)s
            *)
                case $command in
%(options)s
                esac
                [[ $current == -* ]] || files=$command
                ;;
            esac ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    case $files in
    -d) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
    -f) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
    run | check) mapfile -t COMPREPLY < <(compgen -f -X '!*.yaml' -- "$current"; compgen -d -- "$current") ;;
    info) mapfile -t COMPREPLY < <(compgen -f -X '!*.h5' -- "$current"; compgen -d -- "$current") ;;
    keys) mapfile -t COMPREPLY < <(compgen -W "$(_tagflow_paths "$current")" -- "$current") ;;
    esac
    [[ -z $files ]] || compopt -o filenames
}
complete -F _tagflow tagflow
"""


def completion(commands, keys):
    values, options = [], []
    for c in commands:
        texts = {option.split()[0]: text for option, text in c.texts}
        for option, argument in c.options.items():
            if argument and option != "--set":
                words, files = choices(argument, texts.get(option, ""), option, keys)
                values.append(f"        {c.name}:{option}) words='{' '.join(words)}' files={files} ;;")
        options.append(f"                {c.name}) words='{' '.join([*c.options, '--help'])}' ;;")
    of_keys = []
    for path, words in sorted(keys.items(), key=lambda item: -item[0].count(".")):  # * takes dots as well: longer paths first
        pattern = re.sub(r"<[^>]*>", "*", path)
        if words and pattern.endswith("*"):
            of_keys.append(f"            {pattern}.*) ;;")
        if words:
            of_keys.append(f"            {pattern}) words='{' '.join(words)}' ;;")
    return COMPLETION % {"keys": "\n".join(keys), "commands": " ".join(c.name for c in commands), "values": "\n".join(values),
                         "of_keys": "\n".join(of_keys), "options": "\n".join(options)}


def main():
    if len(sys.argv) != 5 or "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__, end="")
        return 0 if "--help" in sys.argv or "-h" in sys.argv else 2
    program, version, man_path, completion_path = sys.argv[1:]
    title, commands, status = read(os.path.abspath(program))
    for path, text in ((man_path, man(version, title, commands, status)),
                       (completion_path, completion(commands, read_keys(os.path.abspath(program))))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
