"""Headings and links of Markdown files, as GitHub and GitLab read them."""
import re

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
LINK = re.compile(r"(?<!\\)(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)((?:\s+\"[^\"]*\")?\))")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)


def slug(text, separator="-"):
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def prose(text):
    """The lines of a file, each with its number; those of code blocks are empty."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        inside = fence is not None or mark is not None
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = None
        yield number, "" if inside else line


def anchors(text):
    """The anchors of a file; a heading that comes again gets -1, -2 .."""
    found = {}
    for _, line in prose(text):
        heading = HEADING.match(line)
        if heading:
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[2]).replace("`", "")
            name = slug(title)
            found[name] = found.get(name, -1) + 1
            if found[name]:
                yield f"{name}-{found[name]}"
            else:
                yield name


def replace_links(text, replace):
    """The text with each link's target exchanged: replace(target) gives the new one."""
    lines = []
    for (_, line), whole in zip(prose(text), text.split("\n")):
        if line:
            spans = [code.span() for code in CODE.finditer(line)]
            whole = LINK.sub(lambda link: link[0] if any(a <= link.start() < b for a, b in spans) else
                             link[1] + replace(link[2]) + link[3], line)
        lines.append(whole)
    return "\n".join(lines)


def links(text):
    """The targets of a file's links, each with the number of its line."""
    for number, line in prose(text):
        found = []
        replace_links(line, lambda target: found.append(target) or target)
        yield from ((number, target) for target in found)
