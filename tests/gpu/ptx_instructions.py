#!/usr/bin/python3
"""What tests/gpu/ptx.py makes of single instructions: results by the definitions of the PTX manual, numbers by Python and
numpy; what has to be refused, and what ends the program. Kernels use only some of them now."""
import os
import struct
import subprocess
import sys
import tempfile

import numpy

import ptx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
f32 = lambda x: struct.unpack("<I", struct.pack("<f", x))[0]
f64 = lambda x: struct.unpack("<Q", struct.pack("<d", x))[0]
M32, M64 = 2**32 - 1, 2**64 - 1
NAN = 0x7FC00000

# Instruction; types of the destination and of what it reads; each case: what is read, result. Bits, not values.
CASES = [
    ("add.s32", "b32 b32 b32", [((M32, 2), 1), ((0x7FFFFFFF, 1), 0x80000000)]),
    ("sub.s64", "b64 b64 b64", [((1, 2), M64)]),
    ("add.rn.f32", "f32 f32 f32", [((f32(1), f32(2**-24)), f32(1)), ((f32(1), f32(1.5 * 2**-23)), f32(1 + 2**-22))]),
    ("sub.rn.f64", "f64 f64 f64", [((f64(1), f64(3)), f64(-2))]),
    ("mul.rn.f32", "f32 f32 f32", [((f32(2.0**-100), f32(2.0**-40)), 2**9)]), # subnormal: not flushed
    ("div.rn.f32", "f32 f32 f32", [((f32(1), f32(3)), f32(numpy.float32(1) / numpy.float32(3)))]),
    ("rcp.rn.f64", "f64 f64", [((f64(3),), f64(1 / 3))]),
    ("sqrt.rn.f32", "f32 f32", [((f32(2),), f32(numpy.sqrt(numpy.float32(2))))]),
    ("neg.f32", "f32 f32", [((0,), 0x80000000)]),
    ("min.f32", "f32 f32 f32", [((NAN, f32(1)), f32(1)), ((0, 0x80000000), 0x80000000)]),
    ("max.f32", "f32 f32 f32", [((f32(1), NAN), f32(1)), ((0x80000000, 0), 0)]),
    ("mul.lo.s32", "b32 b32 b32", [((0x10001, 0x10001), 0x20001)]),
    ("mul.hi.s32", "b32 b32 b32", [((M32, 5), M32)]),
    ("mul.hi.u32", "b32 b32 b32", [((M32, 5), 4)]),
    ("mul.wide.s32", "b64 b32 b32", [((M32, 12), M64 - 11)]),
    ("mul.wide.u32", "b64 b32 b32", [((M32, 12), 12 * M32)]),
    ("mul.wide.u16", "b32 b16 b16", [((0xFFFF, 0xFFFF), 0xFFFE0001)]),
    ("mad.lo.s32", "b32 b32 b32 b32", [((M32, 7, 3), M32 - 3)]),
    ("mad.wide.s32", "b64 b32 b32 b64", [((M32, 7, 3), M64 - 3)]),
    ("div.s32", "b32 b32 b32", [((M32 - 6, 2), M32 - 2), ((0x80000000, M32), 0x80000000)]),
    ("rem.s32", "b32 b32 b32", [((M32 - 6, 2), M32)]),
    ("div.u32", "b32 b32 b32", [((M32 - 6, 2), 0x7FFFFFFC)]),
    ("shl.b32", "b32 b32 b32", [((3, 31), 0x80000000), ((3, 32), 0)]),
    ("shr.s32", "b32 b32 b32", [((0x80000000, 31), M32), ((0x80000000, 99), M32)]),
    ("shr.u64", "b64 b64 b32", [((1 << 63, 63), 1), ((1 << 63, 64), 0)]),
    ("shf.l.wrap.b32", "b32 b32 b32 b32", [((0x80000001, 0x12345678, 36), 0x23456788)]),
    ("shf.r.wrap.b32", "b32 b32 b32 b32", [((0x87654321, 0x0000000F, 4), 0xF8765432)]),
    ("shf.r.clamp.b32", "b32 b32 b32 b32", [((1, 0xABCD, 40), 0xABCD)]),
    ("bfe.u32", "b32 b32 b32 b32", [((0xABCD1234, 8, 8), 0x12), ((0xABCD1234, 28, 8), 0xA), ((5, 0, 0), 0)]),
    ("bfe.s32", "b32 b32 b32 b32", [((0x0000F000, 12, 4), M32), ((0xA0000000, 28, 8), 0xFFFFFFFA)]),
    ("bfi.b32", "b32 b32 b32 b32 b32", [((0xFF, 0, 4, 4), 0xF0), ((0, M32, 28, 9), 0x0FFFFFFF)]),
    ("prmt.b32", "b32 b32 b32 b32", [((0x33221100, 0x77665544, 0x7531), 0x77553311), ((0x80, 0, 0x9008), 0x008080FF)]),
    ("lop3.b32", "b32 b32 b32 b32 96", [((0xF0, 0xCC, 0xAA), 0xF0 & (0xCC ^ 0xAA))]),
    ("popc.b32", "b32 b32", [((0xF00F,), 8)]),
    ("clz.b32", "b32 b32", [((1,), 31), ((0,), 32)]),
    ("brev.b32", "b32 b32", [((1,), 0x80000000)]),
    ("cvt.s64.s32", "b64 b32", [((M32,), M64)]),
    ("cvt.u64.u32", "b64 b32", [((M32,), M32)]),
    ("cvt.s16.s8", "b16 b16", [((0x1280,), 0xFF80)]),
    ("cvt.u32.u64", "b32 b64", [((0x123456789,), 0x23456789)]),
    ("cvt.rn.f32.f64", "f32 f64", [((f64(1 + 2**-24),), f32(1)), ((f64(1e39),), 0x7F800000)]),
    ("cvt.f64.f32", "f64 f32", [((f32(-2.5),), f64(-2.5))]),
    ("cvt.rn.f64.s64", "f64 b64", [((M64,), f64(-1))]),
    ("cvt.rn.f32.u32", "f32 b32", [((M32,), f32(2**32))]),
    ("cvt.rzi.s32.f64", "b32 f64", [((f64(-2.9),), M32 - 1), ((f64(1e10),), 0x7FFFFFFF), ((f64(-1e10),), 0x80000000)]),
    ("cvt.rni.s32.f32", "b32 f32", [((f32(2.5),), 2), ((NAN,), 0)]),
    ("cvt.rzi.u32.f32", "b32 f32", [((f32(-3),), 0), ((f32(2.0**40),), M32)]),
    ("cvt.rzi.s64.f64", "b64 f64", [((f64(-1e30),), 1 << 63), ((f64(1e30),), M64 >> 1)]),
    ("cvt.rmi.f32.f32", "f32 f32", [((f32(-0.5),), f32(-1))]),
    ("cvt.rn.f16x2.f32", "b32 f32 f32", [((f32(1), f32(-2)), 0x3C00C000)]),
]
halves = numpy.arange(65536, dtype=numpy.uint16)
halves = halves[~numpy.isnan(halves.view(numpy.float16))]
CASES.append(("cvt.f32.f16", "f32 b16", [((int(h),), int(x)) for h, x in
                                         zip(halves, halves.view(numpy.float16).astype(numpy.float32).view(numpy.uint32))]))
# All floats about and between halves: the tie, one bit below and above.
ties = numpy.concatenate([(halves.view(numpy.float16).astype(numpy.float32).view(numpy.uint32) + d).astype(numpy.uint32)
                          for d in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF)] + [numpy.arange(0, 2**32, 39916801).astype(numpy.uint32)])
ties = ties[~numpy.isnan(ties.view(numpy.float32))]
with numpy.errstate(over="ignore"):
    CASES.append(("cvt.rn.f16.f32", "b16 f32", [((int(x),), int(h)) for x, h in
                                                zip(ties, ties.view(numpy.float32).astype(numpy.float16).view(numpy.uint16))]))

# Several statements on %a, %b (b64), the result in %d.
CODE = [
    ("vectors", "ld.v2.u32 {%r1, %r2}, [%in]; ld.v4.u16 {%s1, %s2, _, %s3}, [%in+8]; cvt.u32.u16 %r3, %s3; add.s32 %r1, %r1, %r2; "
     "add.s32 %r1, %r1, %r3; cvt.u64.u32 %d, %r1;", 5 << 32 | 7, 9 << 48 | 1, 21),
    ("signed bytes", "ld.volatile.s8 %r1, [%in+1]; cvt.s64.s32 %d, %r1;", 0x8000, 0, M64 - 127),
    ("two halves", "ld.b32 %r1, [%in]; mov.b32 {%s1, %s2}, %r1; mov.b32 %r2, {%s2, %s1}; cvt.u64.u32 %d, %r2;", 0x12345678, 0, 0x56781234),
    ("bits of a float", "ld.f32 %r1, [%in]; mov.b32 %f1, %r1; add.rn.f32 %f1, %f1, 0f3F800000; mov.b32 %r1, %f1; cvt.u64.u32 %d, %r1;", f32(1), 0, f32(2)),
    ("carries", "mov.b64 {%r1, %r2}, %a; mov.b64 {%r3, %r4}, %b; add.cc.u32 %r1, %r1, %r3; addc.u32 %r2, %r2, %r4; mov.b64 %d, {%r1, %r2};",
     0x1FFFFFFFF, 1, 0x200000000),
    ("borrows", "mov.b64 {%r1, %r2}, %a; mov.b64 {%r3, %r4}, %b; sub.cc.u32 %r1, %r1, %r3; subc.u32 %r2, %r2, %r4; mov.b64 %d, {%r1, %r2};",
     0x200000000, 1, 0x1FFFFFFFF),
    ("predicates", "setp.lt.s64 %p1|%p2, %a, %b; setp.eq.and.s64 %p3, %a, -3, %p1; selp.u64 %d, 5, 6, %p3; @!%p1 mov.u64 %d, 9; @%p2 mov.u64 %d, 8;",
     M64 - 2, 4, 5),
    ("unordered", "mov.b64 %e1, %a; setp.ltu.f64 %p1, %e1, 0d3FF0000000000000; setp.lt.f64 %p2, %e1, 0d3FF0000000000000; "
     "selp.u64 %d, 1, 0, %p1; @%p2 mov.u64 %d, 7;", 0x7FF8000000000000, 0, 1),
    ("a branch by number", "cvt.u32.u64 %r1, %a; $L_t: .branchtargets $L_0, $L_1; mov.u64 %d, 3; brx.idx %r1, $L_t; $L_0: mov.u64 %d, 4; "
     "$L_1: add.s64 %d, %d, 10;", 1, 0, 13),
]

REFUSED = [
    ("fma.rn.f32 %f1, %f1, %f1, %f1;", "contraction"), ("mad.rn.f64 %e1, %e1, %e1, %e1;", "contraction"),
    ("add.f32 %f1, %f1, %f1;", "without .rn"), ("mul.f64 %e1, %e1, %e1;", "without .rn"), ("sub.f32 %f1, %f1, %f1;", "without .rn"),
    ("add.rn.ftz.f32 %f1, %f1, %f1;", "`add.rn.ftz.f32`"), ("div.full.f32 %f1, %f1, %f1;", "`div.full.f32`"),
    ("sqrt.approx.f32 %f1, %f1;", "`sqrt.approx.f32`"), ("ex2.approx.f32 %f1, %f1;", "`ex2.approx.f32` is not known"),
    ("bar.sync 0;", "`bar.sync` is not known"), ("ld.shared.u32 %r1, [%in];", "`ld.shared.u32`"), ("cvt.f16.f32 %s1, %f1;", "`cvt.f16.f32`"),
    ("add.s32 %r1, %a, 1;", "%a is a .b64 register"), ("add.s32 %q1, %r1, 1;", "not a register"), ("call.uni g, (%r1);", "not a function"),
    ("ld.param.u64 %d, [in_param+16];", "16 bytes"),
]

# What ends the program.
FATAL = [
    ("ld.u32 %r1, [%in+2];", "not aligned"), ("ld.v2.f32 {%f1, %f1}, [%in+4];", "not aligned"),
    ("rem.u64 %d, %a, 0;", "division by zero"), ("trap;", "trap"),
]

HEAD = """.version 9.0
.target sm_90
.address_size 64
"""
REGISTERS = ".reg .pred %p<9>; .reg .b16 %s<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .b64 %a; .reg .b64 %b; .reg .b64 %d; " \
    ".reg .b64 %in; .reg .b64 %out; ld.param.u64 %in, [in_param]; ld.param.u64 %out, [in_param+8];"


def function(name, body):
    return f".func {name}(.param .align 8 .b8 in_param[16])\n{{ {REGISTERS} {body} ret; }}\n"


def row(name, kinds):
    """One instruction on numbers that lie 8 bytes apart."""
    to, *of = kinds.split()
    prefix = {"b16": "%s", "b32": "%r", "b64": "%d", "f32": "%f", "f64": "%e"}
    body, operands = "", []
    extra = ".reg .b64 %x<9>; "
    for k, kind in enumerate(of):
        if kind in prefix:
            register = f"%x{k}" if kind == "b64" else f"{prefix[kind]}{k}"
            body += f"ld.{kind} {register}, [%in+{8 * k}]; "
            operands.append(register)
        else:
            operands.append(kind)
    result = "%x8" if to == "b64" else prefix[to] + "8"
    return extra + body + f"{name} {', '.join([result] + operands)}; st.u64 [%out], 0; st.{to} [%out], {result};"


def build(folder, text, calls):
    """A program: for each function in turn, `count` times 64 bytes from stdin, 8 to stdout."""
    path = os.path.join(folder, "rows")
    module = ptx.Module(text)
    with open(path + ".c", "w") as file:
        module.write(file, 0, 0)
        file.write("#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\nint ptx_mutant;\nstruct cuda_variant cuda_variant_0_0(void) {"
                   " return (struct cuda_variant){0}; }\nvoid standin_die(const char *format, ...) { va_list list; va_start(list, format);"
                   " vfprintf(stderr, format, list); exit(7); }\nconst struct uint3 threadIdx, blockIdx; const struct dim3 blockDim, gridDim;\n"
                   "int main(void) {\nstatic __attribute__((aligned(64))) b64 in[8], out; b64 where[2] = {(b64)in, (b64)&out};\nptx_running = \"test\";\n")
        for name, count in calls:
            file.write(f"for (int k = 0; k < {count}; k++) {{ if (fread(in, 8, 8, stdin) != 8) return 9; {name}_((b8 *)where); fwrite(&out, 8, 1, stdout); }}\n")
        file.write("return 0; }\n")
    subprocess.run(["gcc", "-std=gnu11", "-w", "-O1", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-D_GNU_SOURCE",
                    *(f"-I{ROOT}/{folder}" for folder in ["tests/gpu", "tests/gpu/standin", "cuda", "include"]), path + ".c", "-lm", "-o", path], check=True)
    return path


def main():
    failed = 0
    text, calls, inputs, wanted = HEAD, [], [], []
    for k, (name, kinds, cases) in enumerate(CASES):
        text += function(f"row{k}", row(name, kinds))
        calls.append((f"row{k}", len(cases)))
        for read, result in cases:
            inputs.append(struct.pack("<8Q", *(read + (0,) * (8 - len(read)))))
            wanted.append((name, read, result))
    for k, (name, code, a, b, result) in enumerate(CODE):
        text += function(f"code{k}", "ld.u64 %a, [%in]; ld.u64 %b, [%in+8]; " + code + " st.u64 [%out], %d;")
        calls.append((f"code{k}", 1))
        inputs.append(struct.pack("<8Q", a, b, *6 * [0]))
        wanted.append((name, (a, b), result))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([build(folder, text, calls)], input=b"".join(inputs), capture_output=True)
        results = struct.unpack(f"<{len(done.stdout) // 8}Q", done.stdout)
        if done.returncode or len(results) != len(wanted):
            sys.exit(f"FAIL: status {done.returncode}, {len(results)} of {len(wanted)} results: {done.stderr.decode()}")
        for (name, read, result), got in zip(wanted, results):
            if got != result:
                failed += 1
                if failed < 20:
                    print(f"FAIL {name} of {', '.join(map(hex, read))}: {got:#x}, not {result:#x}")
        for code, message in FATAL:
            done = subprocess.run([build(folder, HEAD + function("f", code), [("f", 1)])], input=bytes(64), capture_output=True)
            if done.returncode != 7 or message not in done.stderr.decode():
                failed += 1
                print(f"FAIL {code}: status {done.returncode}: {done.stderr.decode()}")
    for code, message in REFUSED:
        try:
            ptx.Module(HEAD + function("f", code)).write(open(os.devnull, "w"), 0, 0)
            error = "accepted"
        except ptx.Wrong as wrong:
            error = str(wrong)
        if message not in error:
            failed += 1
            print(f"FAIL {code}: {error}")
    print(f"{len(wanted)} results of {len(CASES) + len(CODE)} instructions, {len(REFUSED)} refusals, {len(FATAL)} fatal errors: {failed} failures")
    sys.exit(failed > 0)


main()
