"""A server under pressure: thousands of connections, clients that do not read, huge transactions, more rows than
memory, a full disk, a clock that jumps. Nothing acknowledged may be lost, no session may wait forever, and memory must
stay below its limit."""

from . import clock, connections, full_disk, huge_transaction, many_rows, slow_reader

SCENARIOS = [connections, slow_reader, huge_transaction, full_disk, clock, many_rows]


def run(part):
    for round in part.rounds(least=len(SCENARIOS) if not part.short else 3):
        # The short form runs half of the scenarios, chosen by the seed.
        scenario = SCENARIOS[(round * 2 + part.seed) % len(SCENARIOS)] if part.short else SCENARIOS[round % len(SCENARIOS)]
        part.run_round(round, lambda directory, scenario=scenario, round=round: scenario.run(part, part.rng(round), directory))
