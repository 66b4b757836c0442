#!/usr/bin/python3
"""Every order between streams, every wait and every copy is needed: without any one of them a test fails.

    tests/gpu/mutants.py [FOLDER [FUNCTION]]   FOLDER is made if it is not there, and holds a copy of the source and a
                                               build; FUNCTION: only the mutants of that function, as all take an hour
    tests/gpu/mutants.py --look                only looks whether each call is still where it is expected

Each mutant is the product with one call taken out; the tests are those of the CUDA backend on the stand-in, which
delays streams as far as their events allow, or runs them in random orders. Not part of the test suite: run it after a
change of src/solver/{solver,exchange,halo,peers,seam}.c, cuda/{backend,launch,rows}.c or steps with one scalar.
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build-mutants")
SOURCE, BUILD = FOLDER + "/source", FOLDER + "/build"  # beside each other: Meson reads no file of a source below a build

SOLVER, STEP, HALO, PEERS, CUDA = "src/solver/solver.c", "src/solver/step.c", "src/solver/halo.c", "src/solver/peers.c", "cuda/backend.c"
LAUNCH = "cuda/launch.c"
SEAM, EXCHANGE, VALUES = "src/solver/seam.c", "src/solver/exchange.c", "include/values.h"
CELL, CELL_TWO, SLOT, ROWS = "include/cell.h", "include/cell_two.h", "include/slot.h", "cuda/rows.c"
# File, the function it is in, the call, what takes its place.
MUTANTS = [
    (STEP, "shell_and_pack", "b->type->after(b, QUEUE_SHELL, QUEUE_INTERIOR);", ""),
    (SOLVER, "solver_wait", "b->type->wait(b, QUEUE_SHELL)", "STATUS_OK"),
    (SOLVER, "solver_wait", "b->type->wait(b, QUEUE_INTERIOR)", "STATUS_OK"),
    (SOLVER, "ask", "type->after(s->backend, QUEUE_INTERIOR, QUEUE_SHELL);", ""),
    (SOLVER, "ask", "type->after(s->backend, QUEUE_SHELL, QUEUE_INTERIOR);", ""),
    (SOLVER, "ask", "type->copy(", "if (0) type->copy("),
    (SOLVER, "fetch_next", "s->backend->type->wait(s->backend, QUEUE_SHELL)", "STATUS_OK"),
    (SOLVER, "fetch_end", "b->type->wait(b, QUEUE_SHELL)", "STATUS_OK"),
    (SOLVER, "solver_partials", "b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);", ""),
    (SOLVER, "solver_partials", "b->type->copy(", "if (0) b->type->copy("),
    (SOLVER, "solver_partials", "b->type->wait(b, QUEUE_INTERIOR)", "STATUS_OK"),
    (SOLVER, "solver_launch", "b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);", ""),
    (SOLVER, "solver_copy_out", "b->type->copy(", "if (0) b->type->copy("),
    (SOLVER, "solver_copy_out", "b->type->wait(b, QUEUE_INTERIOR)", "STATUS_OK"),
    (SOLVER, "solver_copy_in", "b->type->copy(", "if (0) b->type->copy("),
    (SOLVER, "solver_copy_in", "b->type->wait(b, QUEUE_INTERIOR)", "STATUS_OK"),
    (SOLVER, "put_piece", "b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);", ""),
    (SOLVER, "put_piece", "b->type->copy(", "if (0) b->type->copy("),
    (SOLVER, "put_piece", "b->type->wait(b, QUEUE_INTERIOR)", "STATUS_OK"),
    (HALO, "halo_pack", "exchange_put(h);", ""),
    (HALO, "halo_send", "b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);", ";"),
    (HALO, "halo_finish", "exchange_wait(h);", ""),
    (HALO, "halo_finish", "exchange_take(h);", ""),
    (EXCHANGE, "half", "x->begun & 1", "x->begun & 0"),
    (EXCHANGE, "copy_all", "mpi ? of->host == of->memory", "mpi ? true"),
    (EXCHANGE, "copy_all", ": x->direct", ": true"),
    (EXCHANGE, "exchange_ready", "b->type->wait(b, x->queue)", "STATUS_OK"),
    (EXCHANGE, "exchange_wait", "MPI_Waitall(x->requests, x->request, MPI_STATUSES_IGNORE);", ""),
    (EXCHANGE, "exchange_wait", "peers_hear(&x->peers, x->begun);", ""),
    (EXCHANGE, "exchange_at_once", "exchange_put(x);", ""),
    (EXCHANGE, "exchange_at_once", "exchange_wait(x);", ""),
    (EXCHANGE, "exchange_at_once", "exchange_take(x);", ""),
    (PEERS, "peers_tell", "p->backend->type->mark(p->backend, p->queue, &p->own, mark_of(n), mark_of(n - 2))", "STATUS_OK"),
    (PEERS, "peers_hear", "atomic_load(&w->flag->told) < n", "false"),
    (PEERS, "peers_hear", "b->type->after_peer(b, p->queue, &w->peer, mark_of(n));", ""),
    (PEERS, "mark_of", "(n + PEER_MARKS) % PEER_MARKS", "n & 1"),  # set again too early
    (PEERS, "mark_of", "(n + PEER_MARKS) % PEER_MARKS", "(n + 3) % 3"),
    (PEERS, "try_message", "b->type->wait(b, p->queue)", "STATUS_OK"),
    (PEERS, "check_message", "b->type->wait(b, p->queue)", "STATUS_OK"),
    (PEERS, "check_message", "memcmp(word, wanted, bytes) == 0", "memcmp(word, wanted, 8) == 0"),  # the first word alone
    (PEERS, "check_message", "*good = *good && (status || memcmp(word, wanted, bytes) == 0);", ""),
    (SEAM, "launch", "b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);", ""),
    (CUDA, "cuda_prepare", "cudaDeviceSynchronize()", "cudaSuccess"),
    (CUDA, "cuda_alloc", "cudaMemsetAsync(memory, 0, bytes, b->shared->stream[QUEUE_INTERIOR])", "cudaSuccess"),
    (CUDA, "cuda_alloc", "cudaStreamSynchronize(b->shared->stream[QUEUE_INTERIOR])", "cudaSuccess"),
    (CUDA, "cuda_after", "cudaEventRecord(shared->order[other], stream_of(b, other))", "cudaSuccess"),
    (CUDA, "cuda_after", "cudaStreamWaitEvent(stream_of(b, queue), shared->order[other], 0)", "cudaSuccess"),
    (CUDA, "cuda_after", "shared->waited[queue][other] == shared->put[other]", "shared->waited[queue][other] > 0"),  # waits once
    (LAUNCH, "stream_of", "b->shared->put[queue]++;", ""),
    (LAUNCH, "stream_beside", "b->shared->put[queue]++;", ""),
    (LAUNCH, "stream_of", "record(b, beside->end, beside->stream);", ""),
    (LAUNCH, "stream_of", "wait_for(b, b->shared->stream[queue], beside->end);", ""),
    (LAUNCH, "stream_beside", "wait_for(b, beside->stream, beside->begin);", ""),
    (LAUNCH, "stream_beside", "stream_of(b, queue)", "b->shared->stream[queue]"),
    (CUDA, "cuda_wait", "cudaStreamSynchronize(stream_of(b, queue))", "cudaSuccess"),
    (CUDA, "cuda_wait", "cudaStreamQuery(stream_of(b, queue))", "cudaSuccess"),
    (CUDA, "cuda_mark", "cudaEventQuery(own->mark[reached])", "cudaSuccess"),
    (CUDA, "cuda_mark", "cudaEventRecord(own->mark[mark], stream_of(b, queue))", "cudaSuccess"),
    (CUDA, "cuda_after_peer", "cudaStreamWaitEvent(stream_of(b, queue), peer->mark[mark], 0)", "cudaSuccess"),
    (LAUNCH, "launch_values", "values_of(&l, w, SET_flow, i, number++);", "values_of(&l, w, SET_flow, i, 4 - number++);"),
    (LAUNCH, "launch_values", "travels(direction, i)", "travels(i, direction)"),
    (LAUNCH, "launch_values", "set < v->sets", "set < 1"),
    (LAUNCH, "values_of", "slot_store(w->task.odd, i)", "slot_store(!w->task.odd, i)"),
    (LAUNCH, "values_of", "job.cell += axis[2].step;", ""),
    (LAUNCH, "values_add", "values_launch(l);", "l->call->count--;"),
    (LAUNCH, "value_axes", "(n > 1) != wide", "wide"),
    (LAUNCH, "value_axes", "v->n[a] - 1 : 0", "v->n[a] : 0"),
    (ROWS, "rows_lift", ".up = {places, 1 - (n - places)}", ".up = {places, -(n - places)}"),
    (ROWS, "rows_lift", ".down = {-places, n - places - 1}", ".down = {-places, n - places}"),
    (ROWS, "rows_lift", "v->ghost[0] ? -1 : n - 1", "n - 1"),
    (ROWS, "rows_permute", "memcpy(plain, to, row);", "memset(plain, 0, row);"),
    (LAUNCH, "launch_lines", "line_steps(v, from)", "line_steps(v, 0)"),
    (LAUNCH, "launch_steps", "launch_lines(&open, &step, work, count, last, n);", ""),
    (LAUNCH, "value_axes", "c ? VALUES_next : VALUES_along", "VALUES_along"),
    (SEAM, "lift", "m->later[k].at = lifted_address(fine, m->set, m->later[k].at);", ""),
    (SEAM, "lift", "m->group[k].at[odd] = lifted_address(coarse, m->set, m->group[k].at[odd]);", ";"),
    (SLOT, "row_x", "* v->lifted.back", "* (v->lifted.back - 1)"),
    (CELL_TWO, "two_around", "x + 1 == v->seam[0][1]", "0"),
    (VALUES, "value_next", "view_wrap(v, 0, x + 1)", "(x + 1)"),
    (VALUES, "value_cell", "r * j->step[1]", "r"),
    (VALUES, "value_place", "k == j->turn[0]", "k == UINT32_MAX"),
    (VALUES, "value_place", "!has_place(v->place, n)", "0"),
    (VALUES, "value_unpack", "!type_in(&v->solid, tag)", "1"),
    (VALUES, "value_unpack", "type_holds(v, j->set, tag)", "1"),
    (CUDA, "one_scalar", "one = (v->rows[type].fluid != FLUID_none) == (scalar_row(v, 1, type)->holds != HOLDS_none);", ";"),
    (CELL, "cell_step_flow", "one_load(v, odd, &p, links & KIND_AXES, carried->g);", ";"),
    (CELL, "cell_step_flow", "carried->lift = one_lift(v, kinds, type, carried->g);", "carried->lift = 0;"),
    (CELL, "one_leave", "if (ONE_ROW(v, kinds, type, ROW_SLOPES))", "if (kinds->scalar.slopes)"),
    (CELL, "one_carry", "one_walls(v, kinds, odd, line, x, y, z, is, t, k);", ""),
    (CELL_TWO, "pair_step", "pair_one_links(v, odd, &a, self, g);", ";"),
    (CELL_TWO, "pair_step", "k ? t[1] : t[0]", "t[0]"),
    (CELL_TWO, "pair_one_store", "a->high", "a->low + 1"),
]


def build():
    done = subprocess.run(["ninja", "-C", BUILD, *TARGETS], capture_output=True, text=True)
    return done.returncode == 0, done.stdout[-2000:]


# What waits leaves the cores to others.
WAITING = os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "OMPI_MCA_mpi_yield_when_idle": "1",
                        "LD_PRELOAD": BUILD + "/tests/yield.so"}
TARGETS = ["tests/yield.so", "tests/gpu/standin_backend_32", "tests/gpu/standin_tables_32", "tests/gpu/standin_ranks_32",
           "tests/gpu/parity_standin", "tests/gpu/tagflow_standin"]
MPIRUN = ["sh", "-c", '. "$0"; mpi_run "$@"', ROOT + "/scripts/environment.sh"]


# A whole run; its steps are timed and measured, and it exchanges with itself, through MPI or in memory. Its hash and series
# are those of the CPU.
RUN = """
run() { tests/gpu/tagflow_standin run ../source/configs/taylor_green_2d.yaml --output mutant --overwrite --backend $1 \\
    --set run.steps=30 --set run.exchange=all --set run.transport=$2 --set output.series='{flow: {every: 1, of: [mass, kinetic_energy]}}' \\
    --set output.fields='{all: {every: 10, of: [velocity, vorticity]}}' >mutant.log 2>&1 || exit 1
    grep state_hash mutant/report.json; cat mutant/series/flow.csv; }
cpu=$(run cpu host) && cuda=$(run cuda host) && [ "$cpu" = "$cuda" ] && cuda=$(run cuda ipc) && [ "$cpu" = "$cuda" ]
"""


# A refined grid on two ranks, in every way of messages; alone, where its coarse level exchanges with itself beside the edge of
# the fine one, which does not.
REFINED = """
. "$0"
run() { mpi_run $1 tests/gpu/tagflow_standin run ../source/configs/taylor_green_2d.yaml --output refined --overwrite --share-gpu --backend $2 \\
    --set run.exchange=$3 --set run.transport=$4 --set domain.cells='[24, 18, 12]' --set run.steps=5 --set solver.collision=rr \\
    --set refine='{middle: {level: 1, box: {from: [0, 5, 0], to: [8, 12, 8]}}}' \\
    --set output='{log: {every: 0}, series: {flow: {every: 1, of: [mass, kinetic_energy]}}}' >refined.log 2>&1 || exit 1
    grep state_hash refined/report.json; cat refined/series/flow.csv; }
cpu=$(run 1 cpu cut host) && gpu=$(run 1 cuda all host) && [ "$cpu" = "$gpu" ] || exit 1
for how in host device ipc; do gpu=$(run 2 cuda cut $how) && [ "$cpu" = "$gpu" ] || exit 1; done
"""


# A refined grid of which both levels have lifted rows, and exchange with themselves.
LIFTED = """
run() { tests/gpu/tagflow_standin run ../source/configs/taylor_green_2d.yaml --output lifted --overwrite --backend $1 --set solver.storage=$2 \\
    --set domain.cells='[128, 12, 8]' --set run.steps=5 --set solver.collision=rr --set run.rows=lifted --set run.exchange=$3 \\
    --set refine='{middle: {level: 1, box: {from: [32, 4, 0], to: [96, 8, 8]}}}' \\
    --set output='{log: {every: 0}, series: {flow: {every: 1, of: [mass, kinetic_energy]}}}' >lifted.log 2>&1 || exit 1
    grep state_hash lifted/report.json; cat lifted/series/flow.csv; }
for storage in fp32 fp16; do
    cpu=$(run cpu $storage cut) && gpu=$(run cuda $storage cut) && [ "$cpu" = "$gpu" ] && grep -q "rows: lifted" lifted.log &&
        gpu=$(run cuda $storage all) && [ "$cpu" = "$gpu" ] || exit 1
done
"""


# Two ranks of which one's writes into the other's memory are lost but for the first page; one message each way.
LOSSY = """
. "$0"
run() { mpi_run $1 tests/gpu/tagflow_standin run ../source/configs/cavity_re100.yaml --output lossy --overwrite --share-gpu --backend $2 \\
    --set run.ranks=$3 --set domain.cells='[24, 20, 12]' --set run.steps=5 --set output='{log: {every: 0}}' >lossy.log 2>&1 || exit 1
    grep state_hash lossy/report.json; }
cpu=$(run 1 cpu auto) && gpu=$(run 2 cuda '[1,1,2]') && [ "$cpu" = "$gpu" ] && grep -q "did not reach" lossy.log
"""


def tests():
    """Name, command, options of the stand-in; the quickest first."""
    for order in "lazy", "others", "random,seed=1", "random,seed=2", "eager":
        for how in "ipc=0", "ipc=0,aware=1", "ipc=1":
            options = f"late=1,uuid=same,{how},order={order}"
            yield "ranks 1 " + options, MPIRUN + ["1", "tests/gpu/standin_ranks_32"], options
            yield "ranks 2 " + options, MPIRUN + ["2", "tests/gpu/standin_ranks_32"], options
        options = f"late=1,uuid=same,order={order},rank=1,order=" + ("eager" if order == "lazy" else "lazy")
        yield "ranks 2 " + options, MPIRUN + ["2", "tests/gpu/standin_ranks_32"], options
        yield "tables " + order, ["tests/gpu/standin_tables_32"], f"late=1,order={order}"
        refined = ["sh", "-c", REFINED, ROOT + "/scripts/environment.sh"]
        yield "a refined run, " + order, refined, f"late=1,uuid=same,aware=1,order={order}"
        yield f"a refined run, {order}, unequal ranks", refined, options.replace("uuid=same", "uuid=same,aware=1")
        yield "a run, " + order, ["sh", "-c", RUN], f"late=1,order={order}"
        yield "a lossy peer, " + order, ["sh", "-c", LOSSY, ROOT + "/scripts/environment.sh"], f"late=1,uuid=same,order={order},rank=1,deaf=2"
        for precision, cells in ("fp32", "33,4,3"), ("fp16/fp32", "34,4,3"):
            yield f"parity {precision} {order}", ["tests/gpu/parity_standin", "--backend", "cuda", "--cells", cells, "--precision", precision], \
                f"late=1,order={order}"
        yield "lifted rows, " + order, ["sh", "-c", LIFTED], f"late=1,order={order}"
        yield "parity of lifted rows, " + order, ["tests/gpu/parity_standin", "--backend", "cuda", "--cells", "128,3,2", "--rows", "lifted",
                                                  "--one-in", "8"], f"late=1,order={order}"
        yield "backend " + order, ["tests/gpu/standin_backend_32"], f"late=1,order={order}"


def noticed(limit=300):
    for name, command, options in tests():
        try:
            done = subprocess.run(command, cwd=BUILD, env=WAITING | {"TAGFLOW_STANDIN": options, "TAGFLOW_SOURCE_ROOT": ROOT},
                                  capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return name + ": it hangs"
        if done.returncode:
            return name
    return None


def without(text, function, old, new):
    """The text with the first such call of the function replaced; None: there is none."""
    found = re.search(rf"^[A-Za-z][^;{{}}]*\b{function}\([^;]*?\)\n{{", text, re.M)
    at = text.find(old, found.start(), text.index("\n}\n", found.start())) if found else -1
    return None if at < 0 else text[:at] + new + text[at + len(old):]


def mutate(path, function, old, new):
    """Tests the product with that change; whether it builds, which test notices."""
    with open(f"{SOURCE}/{path}") as file:
        text = file.read()
    with open(f"{SOURCE}/{path}", "w") as file:
        file.write(without(text, function, old, new))
    ok, why = build()
    by = noticed() if ok else None
    with open(f"{SOURCE}/{path}", "w") as file:
        file.write(text)
    return ok, by, why


if sys.argv[1:] == ["--look"]:
    for path, function, old, new in MUTANTS:
        with open(f"{ROOT}/{path}") as file:
            assert without(file.read(), function, old, new), f"{path}, {function}: no {old}"
    print(f"{len(MUTANTS)} mutants can be made")
    sys.exit(0)
if os.path.exists(SOURCE):
    shutil.rmtree(SOURCE)
files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
for name in filter(None, files):
    os.makedirs(os.path.dirname(f"{SOURCE}/{name}"), exist_ok=True)
    shutil.copy(f"{ROOT}/{name}", f"{SOURCE}/{name}")
if not os.path.exists(BUILD + "/build.ninja"):
    subprocess.run(["meson", "setup", "-Dcuda=disabled", BUILD, SOURCE], check=True, stdout=subprocess.DEVNULL)
ok, why = build()
assert ok, why
by = noticed(3600)
assert by is None, f"without a mutation {by} fails"
print("without a mutation all tests pass", flush=True)

missed = 0
MUTANTS = [mutant for mutant in MUTANTS if len(sys.argv) < 3 or mutant[1] == sys.argv[2]]
for mutant in MUTANTS:
    ok, by, why = mutate(*mutant)
    if not ok:
        print(f"does not build: {mutant}\n{why}", flush=True)
    missed += by is None
    print(f"{'noticed by ' + by if by else 'NOT NOTICED'}: {mutant[1]} without {mutant[2]}", flush=True)
print(f"{len(MUTANTS)} mutants, {missed} not noticed")
sys.exit(missed > 0)
