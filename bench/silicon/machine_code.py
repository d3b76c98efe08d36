#!/usr/bin/env python3
"""Compares Heddle's estimate of machine code (heddle inspect --machine-code) with the real thing.

machine_code.py static FILE.ptx...     needs ptxas and readelf. Each kernel: machine instructions estimated and of ptxas
                                       for sm_90; each innermost loop that is found in both: those of one round;
                                       each access to global memory that one of the two does not have
machine_code.py dynamic NAME           each kernel of the recorded counters (h200/NAME.csv: small, today-small):
                                       instructions executed on silicon, and of a functional run with the estimate.
                                       Of the half of the kernels for fitting; with --held-out of the other half.

Run from the repository's root; --build FOLDER (default build), --lines KERNEL: also line by line."""
import argparse
import csv
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

BRANCH, NOP, EXIT = 0x947, 0x918, 0x94D
GLOBAL = {0x381: "load", 0x981: "load", 0x386: "store", 0x986: "store", 0x38E: "atomic", 0x98E: "atomic",
          0x3A6: "atomic", 0x9A6: "atomic", 0x3A8: "atomic", 0x9A8: "atomic", 0x3A9: "atomic", 0x9A9: "atomic"}
INSTRUCTION = re.compile(r"(@!?[%\w]+\s+)?[a-z][\w.:]*\s.*;$|(ret|exit|trap);$")


def estimated(build, path):
    """{kernel: [(PTX line, machine instructions, if all take it, text)]}"""
    command = [f"{build}/bin/heddle", "inspect", path, "--machine-code"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    result, current = {}, None
    for line in shown.stdout.splitlines():
        if m := re.match(r"(?:kernel|function) (\S+):", line):
            current = result.setdefault(m[1], [])
        elif m := re.match(r"  0x[0-9a-f]+ +(\d+) +(\d+)  (.*)", line):
            skipped = re.search(r"predicates: (\d+) where all take it", m[3])
            current.append((int(m[1]), int(m[2]), int(skipped[1]) if skipped else 0, m[3]))
    return result


def with_lines(text, name):
    """The text with every instruction's own line as its source line, so that ptxas tells what became of it."""
    out, depth, in_section = [], 0, False
    for number, line in enumerate(text.split("\n"), 1):
        s = line.split("//")[0].strip()
        in_section |= s.startswith(".section")
        if in_section or re.match(r"\.(file|loc)\b", s):
            in_section &= "}" not in s
            continue
        if depth and INSTRUCTION.match(s) and not out[-1].rstrip().endswith(","):
            out.append(f".loc 1 {number} 1")
        out.append(line)
        if s.startswith(".target"):
            out.append(f'.file 1 "{name}"')
        depth += 0 if ";" in s else s.count("{") - s.count("}")
    at = next(i for i, line in enumerate(out) if line.startswith(".file"))
    if at + 1 < len(out) and out[at + 1].strip().startswith(".address_size"):
        out[at], out[at + 1] = out[at + 1], out[at]
    return "\n".join(out)


def code_sections(cubin):
    data = open(cubin, "rb").read()
    start, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i) for i in range(count)]
    for h in headers:
        at = headers[names][4] + h[0]
        name = data[at : data.index(b"\0", at)].decode()
        if name.startswith(".text."):
            yield name[6:], data[h[4] : h[4] + h[5]]


def decode(code):
    """[(offset, opcode, branch target or None)], without the padding at the end and the subroutines before it."""
    out = []
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        target = None
        if low & 0xFFF == BRANCH:
            upper = low >> 34 | (high & 0x3FFFF) << 30
            target = at + 16 + 4 * ((upper - (1 << 48) if upper >> 47 else upper) * 256 + (low >> 16 & 255))
        out.append((at, low & 0xFFF, target))
    while out and (out[-1][1] == NOP or out[-1][2] == out[-1][0]):
        out.pop()
    return out


def line_tables(cubin, functions):
    """{kernel: [(offset, PTX line)]}: the table has one sequence for each kernel."""
    dump = subprocess.run(["readelf", "--debug-dump=decodedline", cubin], capture_output=True, text=True).stdout
    result, rows = {}, []
    for line in dump.splitlines() + ["end - 0 END"]:
        m = re.match(r"\S+\s+(\d+|-)\s+(0x[0-9a-f]+|0)\b(.*)", line)
        if not m:
            continue
        offset, ends = int(m[2], 16), m[1] == "-" or "END" in m[3]
        if rows and (ends or offset < rows[-1][0]):
            owner = [name for first, last, name in functions if first <= rows[0][1] <= last]
            if owner:
                result.setdefault(owner[0], rows)
            rows = []
        if not ends:
            rows.append((offset, int(m[1])))
    return result


def real(path):
    """{kernel: [(offset, opcode, branch target, PTX line)]}"""
    text = open(path).read()
    starts = [(m.start(), m[1]) for m in re.finditer(r"\.(?:entry|func)\b(?:\s*\([^)]*\))?\s+([\w$]+)", text)]
    lines = [text.count("\n", 0, at) + 1 for at, _ in starts] + [10**9]
    functions = [(lines[i], lines[i + 1] - 1, name) for i, (_, name) in enumerate(starts)]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/x.ptx", "w") as out:
            out.write(with_lines(text, "x.ptx"))
        subprocess.run(["ptxas", "-arch=sm_90", "-lineinfo", f"{folder}/x.ptx", "-o", f"{folder}/x.cubin"], check=True)
        tables = line_tables(f"{folder}/x.cubin", functions)
        result = {}
        for name, code in code_sections(f"{folder}/x.cubin"):
            rows, at, line = tables.get(name, []), 0, 0
            for offset, opcode, target in decode(code):
                while at < len(rows) and rows[at][0] <= offset:
                    line = rows[at][1]
                    at += 1
                result.setdefault(name, []).append((offset, opcode, target, line))
        return result


def innermost_loops(code):
    spans = [(t, at) for at, _, t, _ in code if t is not None and t <= at]
    return [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]


def compare_loops(estimate, code):
    """Rounds in one pass of an unrolled loop: how often the memory accesses are there."""
    memory = {line for line, _, _, text in estimate if re.match(r"(@\S+ )?(ld|st|atom|red)\.(?!param)", text)}
    for first, last in innermost_loops(code):
        lines = [line for at, _, _, line in code if first <= at <= last]
        copies = sorted(lines.count(line) for line in memory & set(lines))
        if not copies:
            continue
        inside = [e for e in estimate if min(lines) <= e[0] <= max(lines)]
        rounds = copies[len(copies) // 2]
        yield sum(e[1] for e in inside), len(lines) / rounds, rounds, min(lines)


def compare_accesses(estimate, code):
    """Accesses to global memory that are in the estimate and not in the machine code, or the other way round."""
    kinds = {"ld": "load", "st": "store", "at": "atomic", "re": "atomic"}
    real_lines = {line for _, opcode, _, line in code if opcode in GLOBAL}
    for line, slots, _, text in estimate:
        m = re.match(r"(?:@\S+ )?(ld|st|atom|red)(?:\.(?!shared|param|const|local)\w+)*[ \t]", text)
        if m and bool(slots) != (line in real_lines):
            yield line, kinds[m[1][:2]], "estimated, not real" if slots else "real, not estimated"


def static(options):
    for path in options.words:
        code = real(path)
        for kernel, estimate in estimated(options.build, path).items():
            if kernel not in code:
                continue
            ends = [i for i, row in enumerate(code[kernel]) if row[1] == EXIT]
            body = code[kernel][: ends[-1] + 1] if ends else code[kernel]  # what follows are slow paths
            mine = sum(e[1] for e in estimate)
            print(f"{kernel}: {mine} estimated, {len(body)} real, {mine / len(body) - 1:+.1%}")
            for mine, theirs, rounds, line in compare_loops(estimate, body):
                print(f"    loop at line {line}, {rounds} at once: {mine} estimated, {theirs:.1f} real a round")
            for line, kind, where in compare_accesses(estimate, body):
                print(f"    {kind} at line {line}: {where}")
            for line, slots, _, text in estimate if options.lines == kernel else []:
                print(f"    {slots:3} {sum(row[3] == line for row in body):3}  {text}")


def dynamic(options):
    size, recorded, errors = options.words[0].split("-")[-1], {}, []
    for row in csv.DictReader(open(f"bench/silicon/h200/{options.words[0]}.csv")):
        kernel = row["Kernel Name"]
        fits = hashlib.sha1(kernel.encode()).hexdigest()[0] in "02468ace"
        if row["ID"].isdigit() and fits != options.held_out:
            recorded.setdefault(row["Process Name"], {}).setdefault(kernel, []).append(
                int(row["smsp__inst_executed.sum"].replace(",", "")))
    for program, kernels in recorded.items():
        estimate = estimated(options.build, f"workloads/{program}/{program}.ptx")
        with tempfile.NamedTemporaryFile(suffix=".json") as stats:
            run = [f"{options.build}/bin/heddle", "run", "--functional", "--pcs", "--quiet", "--size", size]
            if subprocess.run(run + ["--stats", stats.name, program], capture_output=True, timeout=600).returncode:
                print(f"{program}: did not run")
                continue
            launches = json.load(open(stats.name))["kernels"]
        for kernel, counts in kernels.items():
            issued = plain = silicon = 0
            for launch, count in zip((x for x in launches if x["name"] == kernel), counts):
                executed = [0] * (len(estimate[kernel]) + 1)
                for pc in launch["pcs"]:
                    executed[pc["pc"]] = pc["executions"]
                silicon += count
                plain += launch["warp_instructions"]
                for i, (_, slots, skipped, _) in enumerate(estimate[kernel]):
                    issued += executed[i] * slots + skipped * max(0, executed[i] - executed[i + 1])
            errors.append(issued / silicon - 1)
            print(f"{program} {kernel}: {errors[-1]:+.1%} (PTX as it is: {plain / silicon - 1:+.1%})", flush=True)
    within = sum(abs(e) <= 0.1 for e in errors)
    print(f"{within} of {len(errors)} within 10%, mean of absolute errors {sum(map(abs, errors)) / len(errors):.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["static", "dynamic"])
    parser.add_argument("words", nargs="+")
    parser.add_argument("--build", default="build")
    parser.add_argument("--lines", default="")
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    (static if options.what == "static" else dynamic)(options)


if __name__ == "__main__":
    sys.exit(main())
