"""Sends the same requests to two gateways in turn, and prints the throughput of the second
relative to the first, and each one's CPU time per request in milliseconds.

    python3 tests/benches/compare.py ONE OTHER [TURNS [CONNECTIONS]]

Both gateways run all the time, but only one is measured at a time. The result is the median ratio
of neighboring turns, which hardly depends on drifts of the machine's speed.
"""

import shutil
import statistics
import sys
import tempfile

import measure

SECONDS = 2


def main(one, other, turns, connections):
    sides = []
    try:
        for port, gateway in [(8791, one), (8792, other)]:
            folder, base = tempfile.mkdtemp(), f"http://127.0.0.1:{port}"
            sides.append((measure.start(gateway, folder, port)[0], folder, base))
        asked = [measure.operations(folder, base) for _, folder, base in sides]
        print(f"{'operation':20} {'one, req/s':>12} {'other, req/s':>13} {'ratio':>7} {'lowest':>7} {'highest':>8} {'one, CPU':>9} {'other, CPU':>11}")
        for of_one, of_other in zip(*asked):
            rates, cpu = [[], []], [[], []]
            for turn in range(turns):
                # The gateways take turns in going first.
                for side in (0, 1) if turn % 2 else (1, 0):
                    _, path, headers, body = (of_one, of_other)[side]
                    process, _, base = sides[side]
                    rate, _, taken = measure.wrk(process, SECONDS, connections, path, headers, body, base)
                    rates[side].append(rate)
                    cpu[side].append(taken)
            ratios = [b / a for a, b in zip(*rates)]
            first, second = map(statistics.median, rates)
            ratio, (first_cpu, second_cpu) = statistics.median(ratios), map(statistics.median, cpu)
            print(
                f"{of_one[0]:20} {first:12.0f} {second:13.0f} {ratio:7.3f} {min(ratios):7.3f} {max(ratios):8.3f} {first_cpu:9.3f} {second_cpu:11.3f}"
            )
    finally:
        for process, folder, _ in sides:
            measure.stop(process)
            shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, (sys.argv[3:] + ["5", "16"][len(sys.argv) - 3 :])))
