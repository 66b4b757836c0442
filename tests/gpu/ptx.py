#!/usr/bin/python3
"""Translates nvcc's PTX to C, so that the kernels run on the host as nvcc's front end understood them: its flags,
addresses, widths of integers and conversions. One C function for each kernel or function; a register is a variable, a
branch a goto. tests/gpu/ptx.h has the instructions that are no operators of C.

    ptx.py PTX C STORAGE ARITHMETIC    writes C, the module ptx_module_<STORAGE>_<ARITHMETIC>
    ptx.py --count PTX                 which instructions there are, and how many of each

The PTX has to round each operation by itself. So `fma`, and a product or sum without `.rn` that the assembler could
contract, are errors. So is every instruction or modifier that is not known here.
"""
import collections
import re
import struct
import sys


class Wrong(Exception):
    pass


# ---- reading ----

Statement = collections.namedtuple("Statement", "guard name operands text")


def without_remarks(text):
    """PTX without comments, source lines and debug sections."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^\s*\.(loc|file)\b[^\n]*", "", text, flags=re.M)
    return re.sub(r"\.section\s+\S+\s*\{.*?\}", "", text, flags=re.S)


def split(text):
    """At commas that are not within brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def closing(text, at, pair):
    """Behind the bracket that closes the one at text[at]."""
    depth = 0
    for found in re.compile(f"[{re.escape(pair)}]").finditer(text, at):
        depth += 1 if found.group(0) == pair[0] else -1
        if depth == 0:
            return found.end()
    raise Wrong(f"no {pair[1]} for {text[at:at + 60]!r}")


def parts(body):
    """A function's body as {, }, labels with their colon, directives and Statements."""
    at = 0
    label = re.compile(r"([\w$%.]+):(?!:)")
    while at < len(body):
        if body[at].isspace():
            at += 1
        elif body[at] in "{}":
            yield body[at]
            at += 1
        elif found := label.match(body, at):
            yield found.group(0)
            at = found.end()
        else:
            end = body.find(";", at)
            if end < 0:
                raise Wrong(f"no semicolon after {body[at:at + 60]!r}")
            yield statement(" ".join(body[at:end].split()))
            at = end + 1


def statement(text):
    if text.startswith("."):
        return text
    guard, rest = None, text
    if text.startswith("@"):
        guard, rest = text[1:].split(None, 1)
    name, _, operands = rest.partition(" ")
    return Statement(guard, name, split(operands), text)


# ---- types ----

WIDTH = {f"{kind}{bits}": bits for kind in "bsu" for bits in (8, 16, 32, 64)} | {"f16": 16, "f16x2": 32, "f32": 32, "f64": 64, "pred": 1}
C_TYPE = {"f32": "float", "f64": "double", "pred": "bool", "f16": "b16", "f16x2": "b32"} | \
    {f"{kind}{bits}": f"{'s' if kind == 's' else 'b'}{bits}" for kind in "bsu" for bits in (8, 16, 32, 64)}
SPECIAL = {f"%{name}.{axis}": f"{c}.{axis}" for axis in "xyz" for name, c in
           [("tid", "threadIdx"), ("ctaid", "blockIdx"), ("ntid", "blockDim"), ("nctaid", "gridDim")]}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
UNORDERED = {"equ": "!({0} < {1} || {0} > {1})", "neu": "{0} != {1}", "ltu": "!({0} >= {1})", "leu": "!({0} > {1})",
             "gtu": "!({0} <= {1})", "geu": "!({0} < {1})", "num": "{0} == {0} && {1} == {1}", "nan": "!({0} == {0} && {1} == {1})"}
CACHES = re.compile(r"volatile|relaxed|weak|nc|c[agsv]|lu|w[bt]|cta|gpu|sys|cluster|L1::\w+|L2::\w+")


def c_name(name):
    """Ends in an underscore, and so is no word of C or of ptx.h."""
    return re.sub(r"\W", "_", name.lstrip("%$")) + "_"


def literal(number, kind):
    """An integer without sign, of this type."""
    return f"({C_TYPE[kind]}){number}{'ull' if WIDTH[kind] == 64 else 'u'}" if kind not in ("b32", "b64", "u32", "u64") else \
        f"{number}{'ull' if WIDTH[kind] == 64 else 'u'}"


def is_float(kind):
    return kind in ("f32", "f64")


def memory_kind(kind):
    """The C type by which memory is read."""
    return "ptx_" + {"b": "u"}.get(kind[0], kind[0]) + kind[1:] if kind != "f16" else "ptx_u16"


# ---- mutants ----

def offset(s, size):
    """The access `size` bytes further."""
    return statement(re.sub(r"\[([^\]+]+)(?:\+(-?\d+))?\]", lambda m: f"[{m[1]}+{int(m[2] or 0) + size}]", s.text))


def swapped(s, a, b):
    operands = list(s.operands)
    operands[a], operands[b] = operands[b], operands[a]
    return s._replace(operands=operands, text=f"{s.name} {', '.join(operands)}")


def renamed(s, old, new):
    return statement(s.text.replace(old, new, 1))


def last_bit(s):
    """Its constant, with the last bit another."""
    return statement(re.sub(r"\b(0[fd])([0-9A-Fa-f]+)", lambda m: f"{m[1]}{int(m[2], 16) ^ 1:0{len(m[2])}X}", s.text, count=1))


# An error in one instruction: where, what becomes of it. Each is tried in EACH places of a module. The variable ptx_mutant
# chooses one: 100 times its number in this list, from 1, and the number of the place, from 0.
EACH = 8
MUTANTS = {
    "a load at the next number": (r"ld\.(volatile\.)?global\.(nc\.|v\d\.)*[buf](16|32|64) .*%(rs|f|fd)\d", lambda s: offset(s, WIDTH[s.name.split(".")[-1]] // 8)),
    "a store at the next number": (r"st\.(volatile\.)?global\.(v\d\.)*[buf](16|32|64) .*%(rs|f|fd)\d", lambda s: offset(s, WIDTH[s.name.split(".")[-1]] // 8)),
    "a difference the other way round": (r"sub\.rn\.f\d\d ", lambda s: swapped(s, 1, 2)),
    "a difference for a sum": (r"add\.rn\.f\d\d ", lambda s: renamed(s, "add", "sub")),
    "a constant's last bit": (r"(add|mul)\.rn\.f\d\d .*\b0[fd]", last_bit),
    "the other choice": (r"selp\.", lambda s: swapped(s, 1, 2)),
    "the other branch": (r"@%p\d+ bra ", lambda s: renamed(s, "@", "@!")),
    "a comparison the other way round": (r"setp\.(lt|gt|ge|le)\.s32 ", lambda s: swapped(s, 1, 2)),
}


# ---- a function ----

class Function:
    def __init__(self, module, name, is_kernel):
        self.module, self.name, self.is_kernel = module, name, is_kernel
        self.kind = {}       # register -> its type
        self.pattern = []    # %r<100>: prefix, type
        self.used = {}       # registers in use, in order
        self.memory = {}     # symbol -> (C expression of its address, bytes, space)
        self.known = {}      # registers that hold the address of a symbol and nothing else
        self.inner = [set()] # registers of the scopes that are open
        self.targets = {}    # label of a list of labels -> these
        self.lines = []
        self.mutants = {}    # number of a statement -> numbers and descriptions of its mutants
        self.limit = 0       # threads of a block

    def fail(self, s, why):
        raise Wrong(f"{self.name}: {s.text}: {why}")

    # -- operands --

    def register(self, s, name):
        kind = self.kind.get(name)
        if kind is None:
            found = re.fullmatch(r"(%\D+)\d+", name)
            kind = dict(self.pattern).get(found.group(1)) if found else None
            if kind is None:
                self.fail(s, f"{name} is not a register")
            self.kind[name] = kind
            self.used[name] = kind
        return c_name(name), kind

    def value(self, s, operand, kind, wider=False):
        """A C expression of this type; wider: the low bits of a register that may have more."""
        if kind == "pred":
            if operand.startswith("!"):
                return "!" + self.value(s, operand[1:], kind)
            if re.fullmatch(r"-?\d+", operand):
                return str(int(int(operand) != 0))
            name, has = self.register(s, operand)
            if has != "pred":
                self.fail(s, f"{operand} is not a predicate")
            return name
        if operand in SPECIAL:
            if WIDTH[kind] != 32:
                self.fail(s, f"{operand} has 32 bits")
            return f"({C_TYPE[kind]}){SPECIAL[operand]}"
        if found := re.fullmatch(r"0([fFdD])([0-9a-fA-F]+)", operand):
            return self.constant(s, found.group(1).lower(), found.group(2), kind)
        if found := re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", operand):
            number = int(operand.rstrip("U"), 0 if "x" in operand.lower() else 10) & ((1 << WIDTH[kind]) - 1)
            if is_float(kind):
                self.fail(s, f"{operand} is an integer")
            return literal(number, kind)
        if operand in self.memory:
            address, _, space = self.memory[operand]
            return f"((b64){address}{TAG[space]})"
        if operand in self.module.variables:
            return f"(b64){c_name(operand)}"
        name, has = self.register(s, operand)
        if WIDTH[has] != WIDTH[kind] and not (wider and WIDTH[has] > WIDTH[kind] and not is_float(has)):
            self.fail(s, f"{operand} is a .{has} register")
        if is_float(has) or is_float(kind):
            if has == kind:
                return name
            if is_float(has) == is_float(kind):
                self.fail(s, f"{operand} is a .{has} register")
            return f"ptx_{'b' + has[1:] if is_float(has) else 'float' if kind == 'f32' else 'double'}({name})"
        return name if kind[0] == "b" and WIDTH[has] == WIDTH[kind] else f"({C_TYPE[kind]}){name}"

    def constant(self, s, letter, digits, kind):
        if kind[0] == "b" and WIDTH[kind] == 4 * len(digits):
            return f"0x{digits}ull"
        if len(digits) != {"f": 8, "d": 16}[letter] or kind != {"f": "f32", "d": "f64"}[letter]:
            self.fail(s, f"0{letter}{digits} is not a number of type .{kind}")
        number = struct.unpack(">" + letter, bytes.fromhex(digits))[0]
        if number != number or number in (float("inf"), float("-inf")):
            return f"ptx_{'float' if letter == 'f' else 'double'}(0x{digits}ull)"
        return f"{number.hex()}{'f' if letter == 'f' else ''}" if number >= 0 and digits[0] < "8" else f"({number.hex()}{'f' if letter == 'f' else ''})"

    def assign(self, s, operand, kind, expression, extends=False):
        """operand = expression, whose type is kind; extends: the register may have more bits."""
        name, has = self.register(s, operand)
        if kind == "pred" or has == "pred":
            if kind != has:
                self.fail(s, f"{operand} is a .{has} register")
            return f"{name} = {expression};"
        if WIDTH[has] != WIDTH[kind] and not (extends and WIDTH[has] > WIDTH[kind] and not is_float(kind) and not is_float(has)):
            self.fail(s, f"{operand} is a .{has} register")
        if is_float(kind) and not is_float(has):
            return f"{name} = ptx_{has if has[0] == 'b' else 'b' + has[1:]}({expression});"
        if is_float(has) and not is_float(kind):
            return f"{name} = ptx_{C_TYPE[has]}({expression});"
        if has != kind and is_float(has):
            self.fail(s, f"{operand} is a .{has} register")
        return f"{name} = {expression};"

    def address(self, s, operand, space, size):
        """A C expression of a pointer to `size` bytes."""
        found = re.fullmatch(r"\[\s*([\w$%.]+)\s*(?:\+\s*(-?\w+))?\s*\]", operand)
        if not found:
            self.fail(s, f"{operand} is not an address")
        base, offset = found.group(1), int(found.group(2) or "0", 0)
        base = self.known.get(base, base)
        if base in self.memory:
            address, bytes_, has = self.memory[base]
            if has != space:
                self.fail(s, f"{base} is in .{has}")
            if not 0 <= offset <= bytes_ - size or offset % size:
                self.fail(s, f"{base} has {bytes_} bytes")
            return f"({address} + {offset})"
        if base in self.module.variables:
            if space not in ("global", "const"):
                self.fail(s, f"{base} is not in .{space}")
            return f"ptx_variable((b64){c_name(base)} + {offset}, {size}, {c_name(base)}, sizeof {c_name(base)})"
        where = f"{self.value(s, base, 'b64')}" + (f" + {offset}" if offset else "")
        if space in ("global", "const", "generic"):
            return f"ptx_global({where}, {size})"
        if space == "local":
            return f"ptx_local({where}, {size})"
        objects = [(at, bytes_) for at, bytes_, has in self.memory.values() if has == space]
        if len(objects) != 1:
            self.fail(s, f"which of {len(objects)} parameters?")
        return f"ptx_param({where}, {size}, {objects[0][0]}, {objects[0][1]})"

    # -- statements --

    def run(self, body):
        moved = [part.operands for part in body if isinstance(part, Statement) and part.name in ("mov.b64", "mov.u64") and not part.guard]
        written = collections.Counter(register for part in body if isinstance(part, Statement) and part.operands
                                      for register in re.findall(r"%\w+", part.operands[0]))
        self.known = {d: a for d, a in moved if written[d] == 1 and a in self.memory}
        for part in body:
            if part == "{":
                self.inner.append(set())
                self.lines.append("{")
            elif part == "}":
                for name in self.inner.pop():
                    self.kind.pop(name, None)
                    self.memory.pop(name, None)
                self.lines.append("}")
            elif isinstance(part, Statement):
                code = self.guarded(part)
                for number, changed in self.mutants.get(id(part), []):
                    self.lines.append(f"/* mutant {number}: {self.name}: {part.text} -> {changed.text} */")
                    code = f"if (ptx_mutant == {number}) {{ {self.guarded(changed)} }} else {{ {code} }}"
                self.lines.append(code)
            elif part.endswith(":"):
                self.lines.append(f"{c_name(part[:-1])}:;")
                self.label = part[:-1]
            else:
                self.declare(part)

    def declare(self, text):
        s = Statement(None, "", [], text)
        if text.startswith(".pragma"):
            return
        if found := re.fullmatch(r"\.reg \.(\w+) (.*)", text):
            kind = found.group(1)
            kind = kind if kind in ("pred", "f32", "f64") else f"b{WIDTH.get(kind, 0)}"
            if kind not in C_TYPE or kind == "b8":
                self.fail(s, "a register of an unknown type")
            for name in split(found.group(2)):
                if many := re.fullmatch(r"(%\w*[A-Za-z_])<\d+>", name):
                    self.pattern.append((many.group(1), kind))
                else:
                    self.kind[name] = kind
                    if len(self.inner) > 1:
                        self.inner[-1].add(name)
                        self.lines.append(f"{C_TYPE[kind]} {c_name(name)};")
                    else:
                        self.used[name] = kind
        elif found := re.fullmatch(r"\.(local|param) (?:\.align (\d+) )?\.(\w+) ([\w$%]+)(?:\[(\d+)\])?", text):
            space, align, kind, name, count = found.groups()
            if kind not in WIDTH:
                self.fail(s, "an unknown type")
            size = WIDTH[kind] // 8 * int(count or 1)
            self.memory[name] = (c_name(name), size, space)
            self.inner[-1].add(name)
            self.lines.append(f"PTX_DEPOT({c_name(name)}, {size})" if space == "local" else
                              f"__attribute__((aligned(16))) b8 {c_name(name)}[{size}];")
            if int(align or 1) > 16:
                self.fail(s, "an alignment above 16")
        elif text.startswith(".branchtargets"):
            self.targets[self.label] = split(text.removeprefix(".branchtargets"))
        else:
            self.fail(s, "an unknown directive")

    def guarded(self, s):
        code = self.translate(s)
        return f"if ({self.value(s, s.guard, 'pred')}) {{ {code} }}" if s.guard else code

    def translate(self, s):
        base, *modifiers = s.name.split(".")
        handler = getattr(self, "do_" + base, None)
        if base == "fma" or (base == "mad" and modifiers and is_float(modifiers[-1])):
            self.fail(s, "a contraction, which --fmad=false rules out")
        if not handler:
            self.fail(s, f"the instruction `{s.name}` is not known to tests/gpu/ptx.py")
        return handler(s, modifiers)

    def unknown(self, s):
        self.fail(s, f"`{s.name}` with these modifiers is not known to tests/gpu/ptx.py")

    def plain(self, s, modifiers, kinds, allowed=()):
        """The type, when nothing else is left of the modifiers."""
        if not modifiers or modifiers[-1] not in kinds.split() or any(m not in allowed for m in modifiers[:-1]) or \
                len(set(modifiers)) < len(modifiers):
            self.unknown(s)
        return modifiers[-1]

    def rounded(self, s, modifiers):
        """The type of an operation on floating-point numbers, which has to say that it rounds to nearest."""
        if len(modifiers) == 1:
            self.fail(s, "without .rn the assembler may contract it")
        if len(modifiers) != 2 or modifiers[0] != "rn" or not is_float(modifiers[1]):
            self.unknown(s)
        return modifiers[1]

    def operands(self, s, count):
        if len(s.operands) != count:
            self.fail(s, f"{len(s.operands)} operands and not {count}")
        return s.operands

    def two(self, s, kind, form, result=None):
        d, a, b = self.operands(s, 3)
        return self.assign(s, d, result or kind, form.format(self.value(s, a, kind), self.value(s, b, kind)))

    def one(self, s, kind, form, result=None):
        d, a = self.operands(s, 2)
        return self.assign(s, d, result or kind, form.format(self.value(s, a, kind)))

    # -- arithmetic --

    INTEGERS = "s16 u16 s32 u32 s64 u64"

    def sum(self, s, modifiers, sign):
        if is_float(modifiers[-1]):
            return self.two(s, self.rounded(s, modifiers), "{0} " + sign + " {1}")
        kind = self.plain(s, modifiers, self.INTEGERS + " b32 b64", ("cc",))
        kind = "b" + kind[1:]
        if "cc" in modifiers:
            return self.carried(s, kind, sign, "0")
        return self.two(s, kind, "{0} " + sign + " {1}")

    def carried(self, s, kind, sign, carry, out=True):
        """A sum or difference of 32 or 64 bits with a carry or borrow."""
        d, a, b = self.operands(s, 3)
        whole = "b64" if kind == "b32" else "ptx_u128"
        self.used.setdefault("ptx_carry", "pred") # ptx_carry_ in C
        code = f"const {whole} ptx_whole = ({whole}){self.value(s, a, kind)} {sign} {self.value(s, b, kind)} {sign} {carry};"
        code += self.assign(s, d, kind, f"({C_TYPE[kind]})ptx_whole")
        return f"{{ {code} {'ptx_carry_ = ptx_whole >> ' + kind[1:] + ' & 1;' if out else ''} }}"

    def do_add(self, s, modifiers):
        return self.sum(s, modifiers, "+")

    def do_sub(self, s, modifiers):
        return self.sum(s, modifiers, "-")

    def do_addc(self, s, modifiers):
        kind = self.plain(s, modifiers, "s32 u32 s64 u64", ("cc",))
        return self.carried(s, "b" + kind[1:], "+", "ptx_carry_", "cc" in modifiers)

    def do_subc(self, s, modifiers):
        kind = self.plain(s, modifiers, "s32 u32 s64 u64", ("cc",))
        return self.carried(s, "b" + kind[1:], "-", "ptx_carry_", "cc" in modifiers)

    def product(self, s, part, kind, a, b):
        """Its type and a C expression."""
        x, y = self.value(s, a, kind), self.value(s, b, kind)
        bits = WIDTH[kind]
        if part == "lo":
            return "b" + kind[1:], f"(b{bits})((b64){x} * (b64){y})"
        if part == "hi":
            return kind, f"ptx_high_{kind}({x}, {y})"
        if part != "wide" or bits == 64:
            self.unknown(s)
        wide = f"{kind[0]}{2 * bits}"
        return wide, f"({C_TYPE[wide]})(({C_TYPE[kind[0] + '64']}){x} * {y})"

    def do_mul(self, s, modifiers):
        if is_float(modifiers[-1]):
            return self.two(s, self.rounded(s, modifiers), "{0} * {1}")
        kind = self.plain(s, modifiers, self.INTEGERS, ("lo", "hi", "wide"))
        d, a, b = self.operands(s, 3)
        if len(modifiers) != 2:
            self.unknown(s)
        return self.assign(s, d, *self.product(s, modifiers[0], kind, a, b))

    def do_mad(self, s, modifiers):
        kind = self.plain(s, modifiers, self.INTEGERS, ("lo", "hi", "wide"))
        d, a, b, c = self.operands(s, 4)
        if len(modifiers) != 2:
            self.unknown(s)
        result, expression = self.product(s, modifiers[0], kind, a, b)
        bits = "b" + result[1:]
        return self.assign(s, d, bits, f"({C_TYPE[bits]}){expression} + {self.value(s, c, bits)}")

    def do_div(self, s, modifiers):
        if is_float(modifiers[-1]):
            return self.two(s, self.rounded(s, modifiers), "{0} / {1}")
        kind = self.plain(s, modifiers, self.INTEGERS)
        return self.two(s, kind, f"ptx_div_{kind}({{0}}, {{1}})")

    def do_rem(self, s, modifiers):
        kind = self.plain(s, modifiers, self.INTEGERS)
        return self.two(s, kind, f"ptx_rem_{kind}({{0}}, {{1}})")

    def do_rcp(self, s, modifiers):
        return self.one(s, self.rounded(s, modifiers), "1 / {0}")

    def do_sqrt(self, s, modifiers):
        kind = self.rounded(s, modifiers)
        return self.one(s, kind, f"__builtin_sqrt{'f' if kind == 'f32' else ''}({{0}})")

    def do_neg(self, s, modifiers):
        kind = self.plain(s, modifiers, "s16 s32 s64 f32 f64")
        return self.one(s, kind if is_float(kind) else "b" + kind[1:], "-{0}")

    def do_abs(self, s, modifiers):
        kind = self.plain(s, modifiers, "s16 s32 s64 f32 f64")
        if is_float(kind):
            return self.one(s, kind, f"__builtin_fabs{'f' if kind == 'f32' else ''}({{0}})")
        d, a = self.operands(s, 2)
        bits = "b" + kind[1:]
        return self.assign(s, d, bits, f"{self.value(s, a, kind)} < 0 ? -{self.value(s, a, bits)} : {self.value(s, a, bits)}")

    def least(self, s, modifiers, name, sign):
        kind = self.plain(s, modifiers, self.INTEGERS + " f32 f64")
        return self.two(s, kind, f"ptx_{name}_{kind}({{0}}, {{1}})" if is_float(kind) else "{0} " + sign + " {1} ? {0} : {1}")

    def do_min(self, s, modifiers):
        return self.least(s, modifiers, "min", "<")

    def do_max(self, s, modifiers):
        return self.least(s, modifiers, "max", ">")

    def do_copysign(self, s, modifiers):
        kind = self.plain(s, modifiers, "f32 f64")
        return self.two(s, kind, f"__builtin_copysign{'f' if kind == 'f32' else ''}({{1}}, {{0}})")

    # -- bits --

    def logic(self, s, modifiers, sign):
        return self.two(s, self.plain(s, modifiers, "pred b16 b32 b64"), "{0} " + sign + " {1}")

    def do_and(self, s, modifiers):
        return self.logic(s, modifiers, "&")

    def do_or(self, s, modifiers):
        return self.logic(s, modifiers, "|")

    def do_xor(self, s, modifiers):
        return self.logic(s, modifiers, "^")

    def do_not(self, s, modifiers):
        kind = self.plain(s, modifiers, "pred b16 b32 b64")
        return self.one(s, kind, "!{0}" if kind == "pred" else "~{0}")

    def do_cnot(self, s, modifiers):
        return self.one(s, self.plain(s, modifiers, "b16 b32 b64"), "{0} == 0")

    def shift(self, s, modifiers, kinds, name):
        kind = self.plain(s, modifiers, kinds)
        d, a, n = self.operands(s, 3)
        how = kind if kind[0] == "s" or name == "shl" else "u" + kind[1:]
        return self.assign(s, d, kind, f"ptx_{name}_{how}({self.value(s, a, how)}, {self.value(s, n, 'b32')})")

    def do_shl(self, s, modifiers):
        return self.shift(s, modifiers, "b16 b32 b64", "shl")

    def do_shr(self, s, modifiers):
        return self.shift(s, modifiers, self.INTEGERS + " b16 b32 b64", "shr")

    def do_shf(self, s, modifiers):
        if len(modifiers) != 3 or modifiers[0] not in "lr" or modifiers[1] not in ("wrap", "clamp") or modifiers[2] != "b32":
            self.unknown(s)
        d, a, b, n = self.operands(s, 4)
        a, b, n = (self.value(s, x, "b32") for x in (a, b, n))
        n = f"{n} & 31" if modifiers[1] == "wrap" else f"({n} < 32 ? {n} : 32)"
        return self.assign(s, d, "b32", f"ptx_shf_{modifiers[0]}({a}, {b}, {n})")

    def do_bfe(self, s, modifiers):
        kind = self.plain(s, modifiers, "s32 u32 s64 u64")
        d, a, first, count = self.operands(s, 4)
        return self.assign(s, d, kind, f"ptx_bfe_{kind}({self.value(s, a, kind)}, {self.value(s, first, 'b32')}, {self.value(s, count, 'b32')})")

    def do_bfi(self, s, modifiers):
        kind = self.plain(s, modifiers, "b32 b64")
        d, a, b, first, count = self.operands(s, 5)
        a, b, first, count = self.value(s, a, kind), self.value(s, b, kind), self.value(s, first, "b32"), self.value(s, count, "b32")
        return self.assign(s, d, kind, f"ptx_bfi_{kind}({a}, {b}, {first}, {count})")

    def three(self, s, modifiers, form):
        if modifiers != ["b32"]:
            self.unknown(s)
        return self.assign(s, s.operands[0], "b32", form.format(*(self.value(s, x, "b32") for x in s.operands[1:])))

    def do_prmt(self, s, modifiers):
        self.operands(s, 4)
        return self.three(s, modifiers, "ptx_prmt({0}, {1}, {2})")

    def do_lop3(self, s, modifiers):
        self.operands(s, 5)
        return self.three(s, modifiers, "ptx_lop3({0}, {1}, {2}, {3})")

    def do_brev(self, s, modifiers):
        self.operands(s, 2)
        return self.three(s, modifiers, "ptx_brev({0})")

    def do_clz(self, s, modifiers):
        kind = self.plain(s, modifiers, "b32 b64")
        return self.one(s, kind, "{0} ? __builtin_clzll({0}) - " + str(64 - WIDTH[kind]) + f" : {WIDTH[kind]}", "b32")

    def do_popc(self, s, modifiers):
        return self.one(s, self.plain(s, modifiers, "b32 b64"), "__builtin_popcountll({0})", "b32")

    # -- choice --

    def do_setp(self, s, modifiers):
        joins = {"and": "&", "or": "|", "xor": "^"}
        join = joins.get(modifiers[1]) if len(modifiers) == 3 else None
        if len(modifiers) != (3 if join else 2):
            self.unknown(s)
        kind, how = modifiers[-1], modifiers[0]
        if kind not in (self.INTEGERS + " b16 b32 b64 f32 f64").split() or (kind[0] == "b" and how not in ("eq", "ne")) or \
                (how in ("lo", "ls", "hi", "hs") and kind[0] != "u"):
            self.unknown(s)
        d, a, b, *other = self.operands(s, 4 if join else 3)
        a, b = self.value(s, a, kind), self.value(s, b, kind)
        if is_float(kind) and how == "ne":
            form = "{0} < {1} || {0} > {1}"
        elif how in COMPARE:
            form = "{0} " + COMPARE[how] + " {1}"
        elif is_float(kind) and how in UNORDERED:
            form = UNORDERED[how]
        else:
            self.unknown(s)
        d, _, opposite = d.partition("|")
        result = form.format(a, b)
        other = f" {join} {self.value(s, other[0], 'pred')}" if other else ""
        if not opposite:
            return self.assign(s, d, "pred", f"({result}){other}")
        return f"{{ const bool ptx_is = {result}, ptx_first = ptx_is{other}, ptx_second = !ptx_is{other};" + \
            self.assign(s, d, "pred", "ptx_first") + self.assign(s, opposite, "pred", "ptx_second") + " }"

    def do_selp(self, s, modifiers):
        kind = self.plain(s, modifiers, self.INTEGERS + " b16 b32 b64 f32 f64")
        d, a, b, p = self.operands(s, 4)
        return self.assign(s, d, kind, f"{self.value(s, p, 'pred')} ? {self.value(s, a, kind)} : {self.value(s, b, kind)}")

    # -- moves and conversions --

    def do_mov(self, s, modifiers):
        kind = self.plain(s, modifiers, self.INTEGERS + " pred b16 b32 b64 f32 f64")
        d, a = self.operands(s, 2)
        if d.startswith("{"): # into pieces, the lowest first
            pieces = split(d[1:-1])
            bits = WIDTH[kind] // len(pieces)
            code = f"const b{WIDTH[kind]} ptx_whole = {self.value(s, a, 'b' + kind[1:])};"
            code += "".join(self.assign(s, piece, f"b{bits}", f"(b{bits})(ptx_whole >> {bits * k})")
                            for k, piece in enumerate(pieces) if piece != "_")
            return f"{{ {code} }}"
        if a.startswith("{"):
            pieces = split(a[1:-1])
            bits = WIDTH[kind] // len(pieces)
            return self.assign(s, d, "b" + kind[1:], " | ".join(
                f"(b{WIDTH[kind]}){self.value(s, piece, f'b{bits}')} << {bits * k}" for k, piece in enumerate(pieces)))
        return self.assign(s, d, kind, self.value(s, a, kind))

    ROUNDS = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}

    def do_cvt(self, s, modifiers):
        *how, to, of = modifiers
        if how == ["rn"] and to == "f16x2" and of == "f32":
            d, high, low = self.operands(s, 3)
            high, low = self.value(s, high, "f32"), self.value(s, low, "f32")
            return self.assign(s, d, "b32", f"(b32)ptx_f16_f32({high}) << 16 | ptx_f16_f32({low})")
        d, a = self.operands(s, 2)
        if to not in WIDTH or of not in WIDTH or "pred" in (to, of):
            self.unknown(s)
        value = self.value(s, a, of if of != "f16" else "b16", wider=not is_float(of) and of != "f16")
        integers = [kind for kind in (to, of) if kind[0] in "su"]
        if len(integers) == 2 and not how:
            return self.assign(s, d, to, f"({C_TYPE[to]}){value}", extends=True)
        if (to, of) == ("f32", "f16") and not how:
            return self.assign(s, d, to, f"ptx_f32_f16({value})")
        if (to, of) == ("f64", "f16") and not how:
            return self.assign(s, d, to, f"(double)ptx_f32_f16({value})")
        if (to, of) == ("f16", "f32") and how == ["rn"]:
            return self.assign(s, d, "b16", f"ptx_f16_f32({value})")
        if (to, of) == ("f64", "f32") and not how or (to, of) == ("f32", "f64") and how == ["rn"]:
            return self.assign(s, d, to, f"({C_TYPE[to]}){value}")
        if is_float(to) and integers and (how == ["rn"] or (not how and to == "f64" and WIDTH[of] < 64)):
            return self.assign(s, d, to, f"({C_TYPE[to]}){value}")
        if is_float(of) and len(how) == 1 and how[0] in self.ROUNDS:
            whole = f"__builtin_{self.ROUNDS[how[0]]}{'f' if of == 'f32' else ''}({value})"
            if to == of:
                return self.assign(s, d, to, whole)
            if integers and WIDTH[to] >= 32:
                return self.assign(s, d, to, f"ptx_{to}_{of}({whole})", extends=True)
        self.unknown(s)

    def do_cvta(self, s, modifiers):
        """Between generic addresses and those of a space."""
        to = modifiers[:1] == ["to"]
        space, *rest = modifiers[to:]
        if space not in TAG or rest != ["u64"]:
            self.unknown(s)
        tag = TAG[space].replace("+", "-") if not to else TAG[space]
        return self.one(s, "b64", "{0}" + tag)

    def access(self, s, modifiers):
        """State space, how many at once, type."""
        space, count = "generic", 1
        for m in modifiers[:-1]:
            if m in ("global", "local", "param", "const"):
                space = m
            elif re.fullmatch(r"v[248]", m):
                count = int(m[1:])
            elif m == "param::entry" or m == "param::func":
                space = "param"
            elif not CACHES.fullmatch(m):
                self.unknown(s)
        kind = modifiers[-1]
        if kind not in WIDTH or kind in ("pred", "f16", "f16x2"):
            self.unknown(s)
        return space, count, kind

    def do_ld(self, s, modifiers):
        space, count, kind = self.access(s, modifiers)
        d, at = self.operands(s, 2)
        size = WIDTH[kind] // 8 * count
        pointer = f"(const {memory_kind(kind)} *){self.address(s, at, space, size)}"
        if count == 1:
            return self.assign(s, d, kind, f"*{pointer}", extends=True)
        into = split(d[1:-1])
        if len(into) != count:
            self.fail(s, f"{len(into)} registers and not {count}")
        code = f"const {memory_kind(kind)} *const ptx_at = {pointer};" + \
            "".join(f"const {C_TYPE[kind]} ptx_{k} = ptx_at[{k}];" for k in range(count)) + \
            "".join(self.assign(s, register, kind, f"ptx_{k}", extends=True) for k, register in enumerate(into) if register != "_")
        return f"{{ {code} }}"

    def do_st(self, s, modifiers):
        space, count, kind = self.access(s, modifiers)
        at, a = self.operands(s, 2)
        size = WIDTH[kind] // 8 * count
        of = split(a[1:-1]) if count > 1 else [a]
        if len(of) != count or space == "const":
            self.unknown(s)
        pointer = f"({memory_kind(kind)} *){self.address(s, at, space, size)}"
        values = [f"({C_TYPE[kind]}){self.value(s, x, kind, wider=not is_float(kind))}" for x in of]
        if count == 1:
            return f"*{pointer} = {values[0]};"
        return f"{{ {memory_kind(kind)} *const ptx_at = {pointer};" + "".join(f"ptx_at[{k}] = {x};" for k, x in enumerate(values)) + " }"

    # -- branches and calls --

    def do_bra(self, s, modifiers):
        if modifiers not in ([], ["uni"]):
            self.unknown(s)
        return f"goto {c_name(self.operands(s, 1)[0])};"

    def do_brx(self, s, modifiers):
        if modifiers not in (["idx"], ["idx", "uni"]):
            self.unknown(s)
        index, targets = self.operands(s, 2)
        if targets not in self.targets:
            self.fail(s, "a list of labels that is not there")
        cases = "".join(f"case {k}: goto {c_name(label)};" for k, label in enumerate(self.targets[targets]))
        return f"switch ({self.value(s, index, 'b32')}) {{ {cases} default: PTX_FAIL(\"%s\", \"a branch to nowhere\"); }}"

    def do_call(self, s, modifiers):
        if modifiers not in ([], ["uni"]):
            self.unknown(s)
        rest = list(s.operands)
        results = split(rest.pop(0)[1:-1]) if rest[0].startswith("(") else []
        name = rest.pop(0)
        arguments = split(rest.pop(0)[1:-1]) if rest else []
        wanted = self.module.functions.get(name)
        if rest or wanted is None:
            self.fail(s, f"{name} is not a function of this module")
        given = []
        for argument in results + arguments:
            if argument not in self.memory or self.memory[argument][2] != "param":
                self.fail(s, f"{argument} is not a parameter")
            given.append(self.memory[argument][:2])
        if [bytes_ for _, bytes_ in given] != wanted:
            self.fail(s, f"{name} has other parameters")
        return f"{c_name(name)}({', '.join(at for at, _ in given)});"

    def do_ret(self, s, modifiers):
        return "return;" if modifiers in ([], ["uni"]) else self.unknown(s)

    def do_exit(self, s, modifiers):
        return "return;" if self.is_kernel and not modifiers else self.unknown(s)

    def do_trap(self, s, modifiers):
        return 'PTX_FAIL("%s", "trap");'


# What is added to a host address of a state space.
TAG = {"global": "", "const": "", "local": " + PTX_LOCAL", "param": " + PTX_PARAM"}


# ---- a module ----

PARAMETER = re.compile(r"\.param (?:\.align (\d+) )?\.(\w+) (?:\.ptr\S* (?:\.\S+ )*)?([\w$%]+)(?:\[(\d+)\])?")


class Module:
    def __init__(self, text):
        self.variables, self.functions, self.code = {}, {}, []
        self.kernels = [] # name, bytes of its argument
        self.bodies = []
        self.read(without_remarks(text))

    def read(self, text):
        header = re.compile(r"((?:\.(?:visible|weak|extern)\s+)*)\.(entry|func)\b")
        at = 0
        while True:
            while at < len(text) and (text[at].isspace() or text[at] == ";"):
                at += 1
            if at == len(text):
                break
            if found := re.compile(r"\.(version|target|address_size)[^\n]*").match(text, at):
                if found.group(1) == "address_size" and found.group(0).split()[1] != "64":
                    raise Wrong("addresses that do not have 64 bits")
                at = found.end()
            elif found := header.match(text, at):
                at = self.header(text, found)
            else:
                end = text.find(";", at)
                self.variable(" ".join(text[at:end if end >= 0 else len(text)].split()))
                at = end + 1 if end >= 0 else len(text)

    def header(self, text, found):
        """A kernel or function; returns where it ends."""
        at = found.end()
        results = ""
        skip = re.compile(r"\s*")
        at = skip.match(text, at).end()
        if text[at] == "(":
            end = closing(text, at, "()")
            results, at = text[at + 1:end - 1], skip.match(text, end).end()
        name = re.compile(r"[\w$%]+").match(text, at)
        at = skip.match(text, name.end()).end()
        parameters = ""
        if text[at:at + 1] == "(":
            end = closing(text, at, "()")
            parameters, at = text[at + 1:end - 1], end
        start, semicolon = text.find("{", at), text.find(";", at)
        if 0 <= semicolon < start or start < 0: # declared only
            return semicolon + 1
        end = closing(text, start, "{}")
        self.add(name.group(0), found.group(2) == "entry", results, parameters, text[at:start], text[start + 1:end - 1])
        return end

    def add(self, name, is_kernel, results, parameters, directives, body):
        f = Function(self, name, is_kernel)
        sizes = []
        for text in split(results) + split(parameters):
            found = PARAMETER.fullmatch(" ".join(text.split()))
            if not found or found.group(2) not in WIDTH:
                raise Wrong(f"{name}: {text}: an unknown parameter")
            size = WIDTH[found.group(2)] // 8 * int(found.group(4) or 1)
            f.memory[found.group(3)] = (c_name(found.group(3)), size, "param")
            sizes.append(size)
        self.functions[name] = sizes
        for directive in re.findall(r"\.(\w+)([^.]*)", directives):
            if directive[0] in ("maxntid", "reqntid"):
                f.limit = 1
                for n in directive[1].split(","):
                    f.limit *= int(n)
            elif directive[0] not in ("minnctapersm", "maxnreg", "noreturn", "maxnctapersm"):
                raise Wrong(f"{name}: .{directive[0]}: an unknown directive")
        if is_kernel:
            if len(sizes) != 1:
                raise Wrong(f"{name}: {len(sizes)} arguments, and not one")
            self.kernels.append((name, sizes[0]))
        self.bodies.append((f, list(parts(body))))

    def variable(self, text):
        found = re.fullmatch(r"(?:\.(?:visible|weak) )?\.(global|const) (?:\.attribute\S* )?(?:\.align (\d+) )?\.(\w+) ([\w$]+)(?:\[(\d+)\])?(?: = (.*))?", text)
        if not found or found.group(3) not in WIDTH:
            raise Wrong(f"{text[:100]}: unknown to tests/gpu/ptx.py")
        _, align, kind, name, count, value = found.groups()
        bits, count = WIDTH[kind], int(count or 1)
        numbers = split(value[1:-1]) if value and value.startswith("{") else [value] if value else []
        try:
            numbers = [int(n, 0) & ((1 << bits) - 1) for n in numbers]
        except ValueError:
            raise Wrong(f"{text[:100]}: not a list of integers")
        self.variables[name] = count
        self.code.append(f"static __attribute__((aligned({max(int(align or 1), 16)}))) b{bits} {c_name(name)}[{count}] = {{{', '.join(map(str, numbers)) or '0'}}};")

    def mutate(self):
        """Chooses the places of mutants, spread over the module."""
        for k, (pattern, change) in enumerate(MUTANTS.values()):
            places = [(f, part) for f, body in self.bodies for part in body if isinstance(part, Statement) and re.match(pattern, part.text)]
            for n in range(min(EACH, len(places))):
                f, part = places[(2 * n + 1) * len(places) // (2 * EACH) if len(places) > EACH else n]
                f.mutants.setdefault(id(part), []).append((100 * (k + 1) + n, change(part)))

    def write(self, file, storage, arithmetic):
        print('#include "ptx.h"', *self.code, sep="\n", file=file)
        heads = []
        for f, _ in self.bodies:
            if f.is_kernel:
                heads.append(f"static void {c_name(f.name)}(struct cuda_call ptx_call)")
            else:
                heads.append(f"static void {c_name(f.name)}({', '.join('b8 *' + at for at, _, _ in f.memory.values()) or 'void'})")
        for head in heads:
            print(head + ";", file=file)
        for (f, body), head in zip(self.bodies, heads):
            start = [f"b8 *const {at} = (b8 *)&ptx_call;" for at, _, _ in f.memory.values()] if f.is_kernel else []
            if f.is_kernel:
                start.append(f'ptx_begin("{f.name}", {f.limit});')
            f.run(body)
            kinds = collections.defaultdict(list)
            for name, kind in f.used.items():
                kinds[C_TYPE[kind]].append(c_name(name))
            print(head, "{", *start, *(f"{kind} {', '.join(names)};" for kind, names in kinds.items()), *f.lines, "}", sep="\n", file=file)
        print("static const struct ptx_kernel kernels[] = {", file=file)
        for name, bytes_ in self.kernels:
            print(f'{{"{name}", {c_name(name)}, {bytes_}}},', file=file)
        variant = f"cuda_variant_{storage}_{arithmetic}"
        print(f"{{0}}}};\nstruct cuda_variant {variant}(void);", file=file)
        print(f"const struct ptx_module ptx_module_{storage}_{arithmetic} = {{{variant}, kernels}};", file=file)


def count(text):
    counts = collections.Counter()
    for _, body in Module(text).bodies:
        counts.update(part.name for part in body if isinstance(part, Statement))
    for name, n in sorted(counts.items()):
        print(f"{n:7d} {name}")


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--count":
        with open(arguments[1]) as file:
            return count(file.read())
    if len(arguments) != 4:
        sys.exit(__doc__.strip())
    with open(arguments[0]) as file:
        module = Module(file.read())
    module.mutate()
    with open(arguments[1], "w") as file:
        module.write(file, *arguments[2:])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as wrong:
        sys.exit(f"ptx.py: {wrong}")
