"""The protocol: bursts of all engines in turn, ratios paired by round."""

import math
import statistics

from harness import process, quiet

SUBJECT = "ours"
SLOW_SECONDS = 0.05


def rounds_for(rounds, seconds):
    """Returns the number of rounds for a net whose inference takes `seconds`: from SLOW_SECONDS on a third of
    `rounds`."""
    return rounds if seconds < SLOW_SECONDS else math.ceil(rounds / 3)


def quantile(values, q):
    """Interpolates linearly between neighbours, as numpy's does."""
    values = sorted(values)
    position = q * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)


def verdict(ratios, threads):
    """Returns "ahead", "level" or "behind" for the paired ratios subject / other of all rounds."""
    middle = statistics.median(ratios)
    if threads == 1:
        ahead = middle <= 0.95 and quantile(ratios, 0.9) < 1.0
    else:
        ahead = middle <= 0.93 and sum(ratio < 1.0 for ratio in ratios) >= 0.8 * len(ratios)
    return "ahead" if ahead else "level" if middle <= 1.05 else "behind"


def describe(ratios, threads):
    return {
        "median": statistics.median(ratios),
        "p10": quantile(ratios, 0.1),
        "p90": quantile(ratios, 0.9),
        "verdict": verdict(ratios, threads),
    }


def start_all(args, names, net, threads, failures):
    engines = {}
    for name in names:
        try:
            engines[name] = process.start(args, name, net, threads)
            engines[name].calibrate()
        except process.Failed as fault:
            failures[name] = str(fault)
            if name in engines:
                engines.pop(name).close()
    return engines


def one_round(args, engines, cpus, shuffle, canary, failures):
    """Runs a burst of each engine, again when it was disturbed. Returns the quietest try and whether it was quiet."""
    tries = []
    for _ in range(args.retries + 1):
        content = canary is None or canary.content()
        times, order = {}, list(engines)
        shuffle.shuffle(order)
        with quiet.ForeignLoad(cpus, engines.values()) as load:
            for name in order:
                try:
                    times[name] = engines[name].burst()
                except process.Failed as fault:
                    failures[name] = str(fault)
        for name in set(engines) - set(times):
            engines.pop(name).close()
        tries.append((not content, load.share, times))
        if content and load.share <= quiet.FOREIGN_SHARE:
            return times, True
    return min(tries, key=lambda entry: entry[:2])[2], False


def one_set(args, names, net, threads, shuffle, canary, count):
    """Starts all engines in fresh processes. Returns three dictionaries by engine (its burst medians, the facts that
    its process reported, its failure), then the noisy rounds and the number of rounds: `count`, or the number that fits
    the net's time where that is None."""
    failures = {}
    engines = start_all(args, names, net, threads, failures)
    try:
        if count is None and engines:
            watched = [engines[SUBJECT]] if SUBJECT in engines else engines.values()
            count = rounds_for(args.rounds, min(engine.seconds for engine in watched))
        rounds, noisy = [], 0
        for _ in range(count or 0):
            times, calm = one_round(args, engines, args.cpus[:threads], shuffle, canary, failures)
            rounds.append(times)
            noisy += not calm
        bursts = {name: [times[name] for times in rounds] for name in engines}
        return bursts, {name: about(engine) for name, engine in engines.items()}, failures, noisy, count
    finally:
        for engine in engines.values():
            engine.close()


def best_of(bursts):
    """Returns, by round, the burst of the fastest other engine."""
    others = [times for name, times in bursts.items() if name != SUBJECT]
    return [min(times) for times in zip(*others)]


def middle_set(sets, name):
    """Returns the ratios of the set with the middle median: the placement of pages changes a process by some per
    cent."""
    found = []
    for bursts, _, _, _ in sets:
        if SUBJECT in bursts and len(bursts) > 1 and (name == "best" or name in bursts):
            others = best_of(bursts) if name == "best" else bursts[name]
            found.append([ours / other for ours, other in zip(bursts[SUBJECT], others)])
    found.sort(key=statistics.median)
    return found[len(found) // 2] if found else None


def about(engine):
    return {**engine.hello, "way": engine.way}


def duel(args, names, net, threads, shuffle, canary):
    """Measures one net at one number of threads: times, and the load and memory that the processes reported."""
    sets, rounds = [], None
    for _ in range(args.sets if args.rounds else 0):
        *found, rounds = one_set(args, names, net, threads, shuffle, canary, rounds)
        sets.append(found)
    row = {"model": net.name, "threads": threads, "rounds": rounds or 0, "sets": args.sets}
    row["noisy_rounds"] = sum(noisy for _, _, _, noisy in sets)
    row["engines"], row["failures"], row["ratios"] = {}, {}, {}
    loads = {name: [costs[name] for _, costs, _, _ in sets if name in costs] for name in names}
    for _, _, failures, _ in sets:
        row["failures"].update(failures)
    for name in names:
        ran = [bursts[name] for bursts, _, _, _ in sets if name in bursts]
        if not ran:
            continue
        row["engines"][name] = {"ms": statistics.median(statistics.median(times) for times in ran) * 1e3}
        ratios = None if name == SUBJECT else middle_set(sets, name)
        if ratios:
            row["ratios"][name] = describe(ratios, threads)
    ratios = middle_set(sets, "best") if len(row["ratios"]) > 1 else None
    if ratios:
        row["ratios"]["best"] = describe(ratios, threads)
    return row, loads


def measure_costs(args, names, row, net, threads, shuffle, loads, wanted):
    """Adds load and memory to a row: medians of the processes in `loads` and of further ones, until each engine has
    `wanted`. The engines load in turn, in shuffled order, so that a busy minute does not hit one engine alone."""
    waiting = [name for name in names if name in row["engines"] or not args.rounds]
    while waiting := [name for name in waiting if len(loads[name]) < wanted]:
        shuffle.shuffle(waiting)
        for name in list(waiting):
            try:
                engine = process.start(args, name, net, threads)
            except process.Failed as fault:
                row["failures"][name] = str(fault)
                waiting.remove(name)
                continue
            loads[name].append(about(engine))
            engine.close()
    for name, costs in loads.items():
        if costs:
            row["engines"].setdefault(name, {"ms": None}).update(
                load_ms=statistics.median(cost["load_ms"] for cost in costs),
                peak_mib=statistics.median(cost["peak_mib"] for cost in costs),
                version=costs[0]["version"],
                way=costs[0]["way"],
            )
