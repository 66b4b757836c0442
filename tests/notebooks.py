#!/usr/bin/python3
"""Runs the code cells of notebooks, each notebook in a process of its own, as Jupyter would in its order.

    tests/notebooks.py NOTEBOOK...            every cell must run; the outputs of the file stay as they are
    tests/notebooks.py --record NOTEBOOK...   writes what the cells print and draw into the file, for readers without tagflow

A failing cell is shown with its error. Exit status 1: a cell failed, 77: a package is missing (matplotlib, numpy, h5py).
"""
import ast
import base64
import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback


def run_cell(source, names, pyplot):
    """Executes a cell; returns its outputs in the notebook's format."""
    said, outputs = io.StringIO(), []
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    if said.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": said.getvalue().splitlines(True)})
    for number in pyplot.get_fignums():
        data = io.BytesIO()
        pyplot.figure(number).savefig(data, format="png", dpi=60, metadata={"Software": None})
        outputs.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": base64.b64encode(data.getvalue()).decode() + "\n"}})
    figures = bool(pyplot.get_fignums())
    pyplot.close("all")
    if value is not None and not figures:
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": {"text/plain": repr(value).splitlines(True)}})
    return outputs


def run(path, record):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    names = {"__name__": "__main__"}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    where = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for count, cell in enumerate(cells, 1):
            try:
                outputs = run_cell("".join(cell["source"]), names, pyplot)
            except Exception:
                print(f"FAIL {os.path.basename(path)}: cell {count}:\n{''.join(cell['source'])}\n{traceback.format_exc()}")
                return 1
            kinds = [output["output_type"] for output in outputs]
            recorded = [output["output_type"] for output in cell["outputs"]]
            if record:
                cell["outputs"], cell["execution_count"] = outputs, count
                for output in outputs:
                    if "execution_count" in output:
                        output["execution_count"] = count
            elif kinds != recorded:
                print(f"FAIL {os.path.basename(path)}: cell {count} gives {kinds}, and the file has {recorded} (tests/notebooks.py --record)")
                return 1
        os.chdir(where)
    if record:
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
    print(f"ok   {os.path.basename(path)}: {len(cells)} cells")
    return 0 if cells else 1


def main():
    paths = [os.path.abspath(path) for path in sys.argv[1:] if path not in ("--record", "--here")]
    if not paths or "--help" in paths:
        print(__doc__)
        return 2
    missing = [name for name in ("matplotlib", "numpy", "h5py") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)}")
        return 77
    if "--here" in sys.argv:
        return run(paths[0], "--record" in sys.argv)
    sources = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "src")
    env = os.environ | {"PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["--record"] if "--record" in sys.argv else []
    codes = [subprocess.run([sys.executable, __file__, "--here", *options, path], env=env, check=False).returncode for path in paths]
    return max(codes)


sys.exit(main())
