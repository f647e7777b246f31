"""`vermilion battery`: the lane's random source through dieharder (R. G. Brown's collection with Marsaglia's Diehard and NIST's STS tests).

One stream of draws, from the bit-exact generator, feeds one test after another. The tests that dieharder's own list calls suspect or not to be
used (opso, oqso, dna, sums) are left out. A p-value below 10^-6, or above 1 - 10^-6, is a failure, as dieharder has it; between that and
0.005 from either end it is weak, which one in a hundred of a perfect generator's tests are.
"""

import json
import shutil
import subprocess

from vermilion.toolchain.build import BUILD, CXX_FLAGS, ROOT
from vermilion.values.fields import UserError

TESTS = [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16, 17, 100, 101, 102, 202, 203, 204, 205, 206, 208, 209]
PAGE = ROOT / "docs" / "results" / "random-source.md"
GIGABYTE = 10**9


def run(seed: int, note) -> dict:
    """Runs every test; `note(done, total)` after each. Returns seed, bytes and a row a p-value."""
    if shutil.which("dieharder") is None:
        raise UserError("dieharder is not installed; on Debian: apt-get install dieharder")
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "draws"
    sources = [ROOT / "sim" / "battery" / "draws.cpp", ROOT / "sim" / "model" / "random.cpp"]
    subprocess.run(["g++", *CXX_FLAGS, *map(str, sources), "-o", str(program)], check=True)
    rows = []
    with subprocess.Popen(
        [str(program), str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=False
    ) as draws:
        for done, test in enumerate(TESTS):
            note(done, len(TESTS))
            command = ["dieharder", "-g", "200", "-d", str(test), "-D", "test_name", "-D", "ntuple", "-D", "tsamples"]
            command += ["-D", "psamples", "-D", "pvalues", "-D", "assessment", "-c", ","]
            found = subprocess.run(command, stdin=draws.stdout, capture_output=True, text=True)
            for line in found.stdout.splitlines():
                cells = [cell.strip() for cell in line.split(",")]
                if len(cells) >= 6 and cells[5] in ("PASSED", "WEAK", "FAILED"):
                    row = {"test": cells[0], "ntuple": int(cells[1]), "samples": int(cells[2]), "runs": int(cells[3])}
                    rows.append(row | {"p": float(cells[4]), "verdict": cells[5].lower()})
        assert draws.stdout and draws.stderr  # pipes
        draws.stdout.close()
        total = int(draws.stderr.read().split()[-1])
    return {"battery": "dieharder", "tests": TESTS, "seed": seed, "bytes": total, "rows": rows}


def publish(result: dict) -> None:
    """Writes the page and, beside it, the same as JSON."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    verdicts = [row["verdict"] for row in result["rows"]]
    text = "# The random source under dieharder\n\n"
    text += f"Made by `./vermilion battery --seed {result['seed']} --publish`. {result['bytes'] / GIGABYTE:.1f} GB of draws (xoshiro128++), "
    text += f"{len(verdicts)} p-values: {verdicts.count('passed')} passed, {verdicts.count('weak')} weak, {verdicts.count('failed')} failed.\n\n"
    text += "The rows of sts_serial come from one stretch of draws each and so move together; a weak p is one in a hundred of any source's.\n\n"
    text += "| test | n-tuple | samples | runs | p | verdict |\n| --- | ---: | ---: | ---: | ---: | --- |\n"
    for row in result["rows"]:
        text += f"| {row['test']} | {row['ntuple']} | {row['samples']} | {row['runs']} | {row['p']:.6f} | {row['verdict']} |\n"
    PAGE.write_text(text)
