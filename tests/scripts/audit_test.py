"""scripts/audit-kernels over a small tree of its own: green as it stands, red for each violation planted in it.

A planted file says beside a line, as `/* <- text */`, what failure it brings, and it has to bring no other. Files that
have nothing to do with each other share one run of the audit. The headers that carry launches are this project's own.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
EXPECTED = re.compile(r"/\* <- (.*?) \*/")
UPDATE = "run scripts/audit-kernels --write"

BLEND = """#include "cuda/device.cuh"

#include "core/kernels.h"

KERNEL void scale_kernel(float* __restrict__ y, const float* __restrict__ alpha, int n) {
  for (int i : foxhunt::cuda::grid_stride(n)) y[i] *= alpha[0];
}
KERNEL void add_kernel(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ z, int n) {
  for (int i : foxhunt::cuda::grid_stride(n)) y[i] += x[i] + z[i];
}
"""
PROTOTYPES = """/// y [n] *= alpha [1].
KERNEL void scale_kernel(float* __restrict__ y, const float* __restrict__ alpha, int n);
/// y [n] += x [n] + z [n].
KERNEL void add_kernel(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ z, int n);
"""
ROWS = ['X(scale_kernel, 256, thread, "n", "y[n], alpha[1], n")', 'X(add_kernel, 256, thread, "n", "y[n], x[n], z[n], n")']
STEP = """#include "core/device/launch.h"

namespace foxhunt {

void step(Device& device, DeviceSpan<float> y, DeviceSpan<const float> x, DeviceSpan<const float> alpha) {
  launch(device, scale_kernel, y, alpha, static_cast<int>(y.size));
  launch(device, add_kernel, y, x, x, static_cast<int>(y.size));
}

}  // namespace foxhunt
"""
CATCH = """#pragma once
#define NAME_2(line) test_case_##line
#define NAME_1(line) NAME_2(line)
#define TEST_CASE(...) static void NAME_1(__LINE__)()
#define REQUIRE_THROWS(expression) try { expression; } catch (...) {}
"""
FIXTURE = """#pragma once
#include "core/device/launch.h"
#include "tests/catch.h"

namespace foxhunt::test {

Device& device();
DeviceSpan<float> buffer(int n);

template <class... P, class... A>
void launch_guarded(Device& device, void (*kernel)(P...), const A&... arguments) {
  launch(device, kernel, arguments...);
}

}  // namespace foxhunt::test
"""
TEST = """#include "tests/cuda/blend_fixture.h"

using namespace foxhunt::test;

static void scaled() { launch_guarded(device(), scale_kernel, buffer(1), buffer(2), 1); }
TEST_CASE("kernel_blend: scaling", "[blend]") { scaled(); }
TEST_CASE("kernel_blend: adding") { launch_guarded(device(), add_kernel, buffer(1), buffer(2), buffer(3), 1); }
"""


def catalogue(prototypes, rows):
    table = " \\\n".join(["#define FOXHUNT_KERNELS(X)", *("  " + row for row in rows)])
    head = '#pragma once\n#include <cstdint>\n\n#ifndef KERNEL\n#define KERNEL extern "C"\n#endif\n\n'
    return f"{head}struct Table {{\n  int rows;\n  float* cells;\n}};\n\n{prototypes}\n{table}\n"


class Tree:
    """A copy of the small tree, and what the audit says of it."""

    def __init__(self, folder):
        self.top = Path(folder)
        for source in [*TOP.glob("core/*.h"), *TOP.glob("core/device/*.h"), TOP / "cuda/device.cuh", TOP / "scripts/audit-kernels",
                       *TOP.glob("scripts/kernel_audit/*.py")]:  # fmt: skip
            self.path(source.relative_to(TOP)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, self.path(source.relative_to(TOP)))
        self.write("core/kernels.h", catalogue(PROTOTYPES, ROWS))
        self.write("core/alpha_kernels.h", "#pragma once\n")
        self.write("cuda/blend.cu", BLEND)
        self.write("core/nn/step.cpp", STEP)
        self.write("core/nn/CMakeLists.txt", "foxhunt_library(foxhunt_nn step.cpp LINK foxhunt_device)  # not left_out.cpp\n")
        self.write("tests/catch.h", CATCH)
        self.write("tests/cuda/blend_fixture.h", FIXTURE)
        self.write("tests/cuda/test_blend.cpp", TEST)
        self.write("tests/cuda/CMakeLists.txt", "foxhunt_tests(test_cuda test_blend.cpp LINK foxhunt_device)\n")

    def path(self, name):
        return self.top / name

    def write(self, name, text):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)

    def edit(self, name, old, new):
        text = self.path(name).read_text()
        assert text.count(old) == 1, (name, old)
        self.write(name, text.replace(old, new))

    def build(self, folder, *files):
        """Names more files in the folder's CMakeLists.txt."""
        path = self.path(folder) / "CMakeLists.txt"
        before = path.read_text() if path.exists() else ""
        path.write_text(before + "".join(f"target_sources(more PRIVATE {file})\n" for file in files))

    def audit(self, *arguments, **environment):
        done = subprocess.run([self.path("scripts/audit-kernels"), *arguments], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=240, env={**os.environ, **environment})  # fmt: skip
        self.code, self.output = done.returncode, done.stdout
        self.failures = {}
        for text in done.stdout.splitlines():
            where, _, what = text.partition(": ")
            path, _, line = where.rpartition(":")
            if line.isdigit() and not text.startswith(" "):
                self.failures.setdefault(path, []).append((int(line), what))
        return done.returncode

    def expected(self, name):
        lines = self.path(name).read_text().splitlines()
        return [(i + 1, said) for i, line in enumerate(lines) for said in EXPECTED.findall(line)]


class AuditTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.clean = Tree(Path(temporary.name) / "clean")
        cls.without_table = cls.clean.audit(), cls.clean.failures
        cls.written = cls.clean.audit("--write")

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = Tree(Path(temporary.name) / "tree")
        shutil.copy(self.clean.path("cuda/AUDIT.md"), self.tree.path("cuda"))

    def brings_what_it_says(self, files):
        self.assertEqual(self.tree.audit("--write"), 1, self.tree.output)
        for name in files:
            with self.subTest(name):
                failures, expected = self.tree.failures.pop(name, []), self.tree.expected(name)
                self.assertEqual([line for line, _ in failures], [line for line, _ in expected], failures)
                for (_, what), (_, said) in zip(failures, expected):
                    self.assertIn(said, what)
        self.assertEqual(self.tree.failures, {})

    def test_clean(self):
        self.assertEqual(self.without_table[0], 1)
        self.assertEqual(list(self.without_table[1]), ["cuda/AUDIT.md"])
        self.assertIn("the file is missing: " + UPDATE, self.without_table[1]["cuda/AUDIT.md"][0][1])
        self.assertEqual(self.written, 0, self.clean.output)
        self.assertEqual(self.clean.audit(), 0, self.clean.output)
        self.assertIn("2 kernels, 2 launches in the library: ok", self.clean.output)
        self.assertIn("| `scale_kernel` | y | alpha | all 2 | core/nn/step.cpp (step) | cuda/test_blend.cpp | ok |",
                      self.clean.path("cuda/AUDIT.md").read_text())  # fmt: skip
        self.assertRegex(self.clean.output, r"add_kernel +y +x z +all 3 +core/nn/step.cpp:7 +cuda/test_blend.cpp +ok")

    def test_launches_and_copies(self):
        for name, text in LIBRARY.items():
            self.tree.write(name, text)
        self.tree.build("core/nn", *(os.path.basename(name) for name in LIBRARY if "left_out" not in name))
        self.tree.edit("cuda/blend.cu", BLEND, BLEND + HELPER)
        self.brings_what_it_says([*LIBRARY, "cuda/blend.cu"])

    def test_kernels(self):
        prototypes, rows, launches, tests = [PROTOTYPES], [*ROWS], [], []
        for name, changed in KERNELS.items():
            parts = {key: text.replace("NAME", name) for key, text in {**KERNEL, **changed}.items()}
            self.tree.write(f"cuda/{name}.cu", parts["source"])
            for texts, key in ((prototypes, "prototype"), (rows, "row"), (launches, "launch"), (tests, "test")):
                texts.append(parts[key])
        self.tree.write("core/kernels.h", catalogue("".join(prototypes), filter(None, rows)))
        self.tree.edit("core/nn/step.cpp", "}\n\n}", "".join(launches) + "}\n\n}")
        self.tree.edit("tests/cuda/test_blend.cpp", TEST, TEST + "".join(tests))
        self.tree.write("tests/device/test_elsewhere.cpp", ELSEWHERE)
        self.tree.build("tests/device", "test_elsewhere.cpp")
        self.brings_what_it_says(["core/kernels.h", *(f"cuda/{name}.cu" for name in KERNELS)])
        table = self.tree.path("cuda/AUDIT.md").read_text()
        self.assertRegex(table, r"\| `bare` \| y \| x \| not y \| .* \| FAIL \|")
        self.assertRegex(table, r"\| `overlapping` \| y \| x \| not y \| .* \| may overlap \|")

    def test_a_new_kernel_is_told_what_it_lacks(self):
        """Of catalogue row, test and audit line, and of the table, whatever is not as it should be."""
        self.tree.write("cuda/shift.cu", KERNEL["source"].replace("NAME", "shift_kernel"))
        self.tree.edit("core/kernels.h", PROTOTYPES, PROTOTYPES + KERNEL["prototype"].replace("NAME", "shift_kernel"))
        self.tree.edit("core/nn/step.cpp", "}\n\n}", KERNEL["launch"].replace("NAME", "shift_kernel") + "}\n\n}")
        self.tree.edit("cuda/AUDIT.md", "core/nn/step.cpp (step) | cuda/test_blend.cpp | ok |\n| `add",
                       "core/nn/step.cpp (old) | cuda/test_blend.cpp | FAIL |\n| `gone_kernel` | - |\n| `add")  # fmt: skip
        self.assertEqual(self.tree.audit(), 1)
        line = KERNEL["source"].count("\n")
        added = "add X(shift_kernel, threads, unit, work, arguments) to FOXHUNT_KERNELS in core/kernels.h"
        self.assertEqual(self.tree.failures.pop("cuda/shift.cu"), [
            (line, f"shift_kernel has no audit line in cuda/AUDIT.md: {UPDATE} and commit what it changes"),
            (line, f"shift_kernel has no catalogue row: {added}"),
            (line, "shift_kernel has no test: no test case in tests/cuda launches it: add one to tests/cuda/test_shift.cpp"),
        ])  # fmt: skip
        (changed, first), (gone, second) = self.tree.failures.pop("cuda/AUDIT.md")
        self.assertEqual(gone, changed + 1)
        self.assertIn("the audit line of scale_kernel is out of date (launched in, verdict): " + UPDATE, first)
        self.assertIn("an audit line of gone_kernel, which is no kernel: " + UPDATE, second)
        self.assertEqual(self.tree.failures, {})

    def test_text_of_the_table_and_order_of_its_lines(self):
        audit = self.tree.path("cuda/AUDIT.md").read_text().splitlines()
        for lines, expected in ((["# Audit", *audit[1:]], 1), ([*audit[:-2], audit[-1], audit[-2]], len(audit) - 1)):
            self.tree.write("cuda/AUDIT.md", "\n".join(lines) + "\n")
            self.assertEqual(self.tree.audit(), 1)
            self.assertEqual([(path, line) for path, found in self.tree.failures.items() for line, _ in found],
                             [("cuda/AUDIT.md", expected)])  # fmt: skip

    def test_a_file_that_does_not_parse(self):
        """It hides what it holds, so it is all that is reported, but for what is found by words alone."""
        self.tree.edit("core/nn/step.cpp", "launch(device, scale_kernel, y, alpha, static_cast<int>(y.size));",
                       "scale_kernel<<<1, 256>>>(y.data, alpha.data, 1);")  # fmt: skip
        self.assertEqual(self.tree.audit(), 1)
        said = self.tree.failures.pop("core/nn/step.cpp")
        self.assertEqual([line for line, _ in said], [6, 6])
        self.assertIn("does not parse", said[0][1])
        self.assertIn("launch around launch() (<<<)", said[1][1])
        self.assertEqual(self.tree.failures, {})

    def test_without_clang(self):
        self.tree.write("elsewhere/clang/__init__.py", "raise ImportError('not here')\n")
        self.assertEqual(self.tree.audit(PYTHONPATH=str(self.tree.path("elsewhere"))), 3)
        self.assertIn("needs libclang and its Python bindings (not here): run scripts/setup --audit", self.tree.output)


def library(body, before=""):
    """A file of core/ whose one function has what a launch needs."""
    return f"""#include "core/device/launch.h"

namespace foxhunt {{
{before}
void f(Device& device, DeviceSpan<float> y, DeviceSpan<const float> x, float* memory, int n) {{
  {body}
}}

}}  // namespace foxhunt
"""


def cuda_call(line):
    """Code that only a machine with a CUDA toolkit compiles."""
    return library(f"memory[0] = 0.0f;\n#ifdef FOXHUNT_CUDA\n  {line}\n#endif")


TWICE = "/* <- launch of add_kernel gives 'y' twice, as 'y' and as 'x', and the kernel writes 'y': pass distinct spans */"
TWICE_PART = TWICE.replace("'y'", "'y.part(a)'", 1)
LIBRARY = {
    # Launches around launch().
    "core/nn/call.cpp": library("scale_kernel(memory, memory, n);  /* <- direct call of scale_kernel */"),
    "core/nn/address.cpp": library("auto* kept = scale_kernel;  /* <- takes the address of scale_kernel */\n  kept(memory, memory, n);"),
    "core/nn/variable.cpp": library("launch(device, kept, y, n);  /* <- launch of 'kept', which is not the */", "extern void (*kept)(float*, int);"),
    "core/nn/passed_on.cpp": library(
        "given(device, add_kernel, memory, n);",
        "void given(Device&, void (*k)(float*, const float*, const float*, int), float* y, int n) {\n"
        "  k(y, y, y, n);  /* <- given is given add_kernel (core/nn/passed_on.cpp:8) and calls it */\n}",
    ),
    "core/nn/host_call.cpp": library("Launch made;\n  made.host_call = [=] { *memory = 0; };  /* <- calls or sets a launch's host_call */"),
    "core/nn/submit.cpp": library("device.submit(Launch{});  /* <- submits a Launch that was not taken from Program::launches() */"),
    "core/nn/host_function.cpp": library(
        "for (const KernelInfo& k : kernel_catalogue())\n"
        "    ((void (*)(float*))k.host_function)(memory);  /* <- takes a kernel's address out of the catalogue */"
    ),
    "core/nn/triple.cpp": cuda_call("other<<<1, 256>>>(memory, n);  /* <- launch around launch() (<<<): call launch(device, kernel, */"),
    "core/nn/runtime.cpp": cuda_call("cudaLaunchKernel(f, 1, 256, values);  /* <- launch around launch() (cudaLaunchKernel) */"),
    "core/nn/driver.cpp": cuda_call("cuLaunchKernelEx(0, f, values, 0);  /* <- launch around launch() (cuLaunchKernelEx) */"),
    "core/nn/graph.cpp": cuda_call("cudaGraphAddKernelNode(&n, graph, 0, 0, &p);  /* <- launch around launch() (cudaGraphAddKernelNode) */"),
    "core/nn/hidden.cpp": cuda_call("launch(device, scale_kernel, y, x, n);  /* <- names scale_kernel in a macro or in code that the host */"),
    "core/nn/macro.cpp": library("GO(y, x, n);", "#define GO(y, x, n) launch(device, scale_kernel, y, x, n)  /* <- names scale_kernel in a macro */"),
    "core/nn/kernel.cpp": library("mine(memory);", "KERNEL void mine(float* y) { *y = 0; }  /* <- a KERNEL outside cuda/ */"),
    "core/nn/global.cpp": cuda_call("__global__ void mine(float* y);  /* <- kernel not written with KERNEL (__global__) */"),
    "core/nn/left_out.cpp": library("launch(device, scale_kernel, y, x, n);  /* <- is not built: name left_out.cpp in core/nn/CMakeLists.txt */"),
    # One span twice.
    "core/nn/twice.cpp": library(f"launch(device, add_kernel, y, y, x, n);  {TWICE}"),
    "core/nn/converted.cpp": library(f"launch(device, add_kernel, (y), DeviceSpan<const float>(y), x, n);  {TWICE}"),
    "core/nn/rebuilt.cpp": library(f"launch(device, add_kernel, y, DeviceSpan<float>(y.data, y.size), x, n);  {TWICE}"),
    "core/nn/alias.cpp": library(f"auto a = y;\n  const auto& again = a;\n  launch(device, add_kernel, y, again, x, n);  {TWICE}"),
    "core/nn/part.cpp": library(f"const auto some = y.part(0, 2);\n  launch(device, add_kernel, y, some, x, n);  {TWICE}"),
    "core/nn/copied_part.cpp": library(f"const auto a = y.part(0, 2), b = a;\n  launch(device, add_kernel, a, b, x, n);  {TWICE_PART}"),
    "core/nn/member.cpp": library(
        "Owner().f(device, n);",
        "struct Owner {\n  DeviceSpan<float> y;\n  DeviceSpan<const float> x;\n  void f(Device& device, int n) {\n"
        f"    launch(device, add_kernel, y, this->y, x, n);  {TWICE}\n  }}\n}};",
    ),
    "core/nn/wrapper.cpp": library(
        f"wrapped(device, add_kernel, y, y, x, n);  {TWICE}",
        "template <class... P, class... A>\nvoid wrapped(Device& device, void (*k)(P...), const A&... a) {\n  launch(device, k, a...);\n}",
    ),
    "core/nn/distinct.cpp": library(
        "DeviceSpan<float> a = y.part(0, 2), b = y.part(2, 2);\n  const auto c = a;\n  launch(device, add_kernel, a, b, b, n);\n"
        "  std::swap(a, b);\n  launch(device, add_kernel, a, c, b, n);"
    ),
    # Copies.
    "core/nn/copy.cpp": cuda_call("cudaMemcpy(memory, &n, 4, cudaMemcpyHostToDevice);  /* <- raw copy between host and device (cudaMemcpy) */"),
    "core/nn/copy_async.cpp": cuda_call("cudaMemcpyAsync(memory, memory + 8, 4, cudaMemcpyDeviceToDevice, 0);  /* <- raw copy between host */"),
    "core/nn/copy_driver.cpp": cuda_call("cuMemcpyHtoD(0, &n, 4);  /* <- raw copy between host and device (cuMemcpyHtoD) */"),
    "core/nn/copy_bytes.cpp": library("device.copy_bytes(memory, &n, 4);  /* <- raw copy (copy_bytes): use Device::copy */"),
    "core/nn/managed.cpp": cuda_call("cudaMallocManaged(&memory, 4);  /* <- managed memory (cudaMallocManaged) */"),
    "core/nn/words.cpp": library(
        'const char* said = "cudaMemcpy <<<1, 2>>>";  // no cudaMemcpy, no scale_kernel(y, y, n)\n'
        "  memory[0] = said[0]; /* cudaLaunchKernel */"
    ),
    "core/device/cuda_device.cpp": """#include <cuda_runtime.h>
void launch_on_gpu() { cudaLaunchKernelExC(&config, kernel, values); }
void copy() { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream); }
void upload() { cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream); }  /* <- raw copy between host and device */
void wait_and_copy() { cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice); }  /* <- raw copy between host and device */
""",
}

HELPER = """
template <class T>
DEVICE void mix(T* __restrict__ to, const T* __restrict__ from, int i) { to[i] = from[i]; }
DEVICE void mix_all(float* y, const float* x, int n) {
  for (int i : foxhunt::cuda::grid_stride(n)) mix(y, x, i);
  mix<float>(y, &y[0], n);  /* <- call of mix gives 'y' twice, as 'to' and as 'from', of which it writes one through __restrict__ */
}
"""

# The texts that make a kernel obey every rule.
KERNEL = {
    "source": """#include "cuda/device.cuh"

#include "core/kernels.h"

KERNEL void NAME(float* __restrict__ y, const float* __restrict__ x, int n) { y[n] = x[n]; }
""",
    "prototype": "KERNEL void NAME(float* __restrict__ y, const float* __restrict__ x, int n);\n",
    "row": 'X(NAME, 256, thread, "n", "y[n], x[n], n")',
    "launch": "  launch(device, NAME, y, x, 1);\n",
    "test": 'TEST_CASE("NAME") { launch_guarded(device(), NAME, buffer(1), buffer(2), 1); }\n',
}


def instead(part, *changes, said=""):
    """A part of KERNEL with some of its text replaced, and what is said of its last line."""
    text = KERNEL[part]
    for old, new in changes:
        assert old in text, (part, old)
        text = text.replace(old, new)
    return text[:-1] + f"  /* <- {said} */\n" if said else text


BARE = ("float* __restrict__ y", "float* y")
NOT_RESTRICT = "NAME writes 'y', which is not __restrict__: add __restrict__, or say 'may overlap' in the comment of its prototype"
NO_TEST = instead("source", said="NAME has no test: no test case in tests/cuda launches it: add one to tests/cuda/test_NAME.cpp")
TABLE = ("int n", "Table n")
HIDES = "NAME: 'n' (Table) hides a pointer from the checks of launch()"

# kernel -> the texts in which it differs from KERNEL.
KERNELS = {
    "bare": dict(source=instead("source", BARE, said=NOT_RESTRICT), prototype=instead("prototype", BARE, said=NOT_RESTRICT)),
    "overlapping": dict(source=instead("source", BARE), prototype="/// y and x may overlap.\n" + instead("prototype", BARE)),
    "unlike": dict(source=instead("source", ("int n", "int m"), ("[n]", "[m]"), said="NAME: parameter 'm' is int m here and int n in the")),
    "unlisted": dict(row="", source=instead("source", said="NAME has no catalogue row: add X(NAME, threads, unit, work, arguments) to")),
    "undeclared": dict(
        prototype="", row="", launch="", test="",
        source=instead("source", said="NAME has no catalogue row */ /* <- NAME has no launch */ /* <- NAME has no prototype: declare it in "
                                      "core/kernels.h */ /* <- NAME has no test"),
    ),  # fmt: skip
    "misnamed": dict(row='X(NAME, 256, thread, "n", "x[n], y[n], n") /* <- NAME: its catalogue row lists (x, y, n), its prototype, */'),
    "sized": dict(row='X(NAME, 256, thread, "n", "y[n], x, n") /* <- NAME: \'x\' is a pointer: give its size in the row */'),
    "hiding": dict(source=instead("source", TABLE, ("[n]", "[0]"), said=HIDES), prototype=instead("prototype", TABLE, said=HIDES),
                   launch=instead("launch", ("1", "Table()")), test=instead("test", (", 1)", ", Table())"))),
    "resting": dict(launch="", source=instead("source", said="NAME has no launch: nothing in core/ or app/ launches it: add launch(device, NAME")),
    "untested": dict(test="", source=NO_TEST),
    "hidden": dict(test=instead("test", ('("NAME")', '("NAME", "[.slow]")')), source=NO_TEST),
    "refused": dict(test='TEST_CASE("NAME") { REQUIRE_THROWS(launch(device(), NAME, buffer(1), buffer(2), 1)); }\n', source=NO_TEST),
    "unreached": dict(test="static void never_called() { launch_guarded(device(), NAME, buffer(1), buffer(2), 1); }\n", source=NO_TEST),
    "elsewhere": dict(test="", source=NO_TEST),
    "gpu_only": dict(row="", prototype="", launch="", test="", source='#include "cuda/device.cuh"\n#ifdef __CUDACC__\nKERNEL void NAME(float* y) { '
                     "*y = 0; }  /* <- a KERNEL that the host target does not compile */\n#endif\n"),
}  # fmt: skip
ELSEWHERE = '#include "tests/cuda/blend_fixture.h"\n\nusing namespace foxhunt::test;\n\n' + KERNEL["test"].replace("NAME", "elsewhere")

if __name__ == "__main__":
    ready = "import clang.cindex; clang.cindex.Index.create()"  # for the interpreter of the script, not the one that runs this
    if subprocess.run(["/usr/bin/python3", "-c", ready], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("SKIPPED: no libclang with Python bindings; scripts/setup --audit installs them")
        sys.exit(0)
    unittest.main()
