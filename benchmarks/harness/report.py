"""Writes the measurements as text, as summary lines, as JSON and as a chart."""

import math

import engines
from harness import duel, machine, resume
from zoo import names as lists

AHEAD_OVERALL, WORST_ALLOWED = 0.90, 1.05
# The largest ratios of load and memory to the best other engine's: as a geometric mean, and on any single net.
COST_LIMITS = {"load_ms": (0.60, 0.75), "peak_mib": (0.80, 0.85)}
COST_NAMES = {"load_ms": "load", "peak_mib": "memory"}


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def header(args):
    """Returns the lines above a table."""
    found = machine.describe()
    lines = [f"{found['cpu']}; {found['caches']}", f"{found['instructions']}; {found['system']}"]
    slow = duel.rounds_for(args.rounds, duel.SLOW_SECONDS)
    lines.append(
        f"{args.rounds} rounds ({slow} from {duel.SLOW_SECONDS * 1e3:.0f} ms on), {args.sets} set(s), "
        f"precision {args.precision}, {args.clock} time"
    )
    lines.append("ratio = ours / other, paired by round [p10 p90]; below 1 ours is faster")
    return lines


def compared(chosen):
    """Returns the other engines; with several of them also "best"."""
    others = [name for name in chosen if name != "ours"]
    return others + ["best"] if len(others) > 1 else others


def column_titles(chosen):
    times = " ".join(f"{name + ' ms':>14}" for name in chosen)
    ratios = " ".join(f"{'/ ' + name:>22}" for name in compared(chosen))
    return f"{'model':<20} {'T':>1} {times} {ratios}  remarks"


def row_line(row, chosen):
    """Returns the line of one net at one number of threads."""
    found = [row["engines"].get(name, {}).get("ms") for name in chosen]
    times = " ".join(f"{'-':>14}" if ms is None else f"{ms:14.3f}" for ms in found)
    cells = []
    for name in compared(chosen):
        ratio = row["ratios"].get(name)
        text = f"{ratio['median']:.3f} [{ratio['p10']:.3f} {ratio['p90']:.3f}]" if ratio else "-"
        cells.append(f"{text:>22}")
    remarks = [
        f"{name}: {fault}" for name, fault in row["failures"].items() if not fault.startswith("the net's folder")
    ]
    ways = [row["engines"][name]["way"] for name in row["engines"]]
    if "module" in ways:
        remarks.append("official by module")
    if row["noisy_rounds"]:
        remarks.append(f"{row['noisy_rounds']} noisy of {row['rounds'] * row['sets']}")
    return f"{row['model']:<20} {row['threads']:>1} {times} {' '.join(cells)}  {'; '.join(remarks)}"


def first_rows(rows):
    """Returns each net once, at its smallest number of threads."""
    found = {}
    for row in sorted(rows, key=lambda row: row["threads"]):
        found.setdefault(row["model"], row)
    return list(found.values())


def costs_table(rows, chosen):
    """Lists load to first result and peak memory, and their ratios to the best other engine's."""
    lines = ["", "load to first result in ms, and peak memory above the process without a net in MiB"]
    titles = " ".join(f"{name + ' ms':>14} {'MiB':>7}" for name in chosen)
    lines.append(f"{'model':<20} {titles}   load memory")
    for row in first_rows(rows):
        cells = []
        for name in chosen:
            cost = row["engines"].get(name)
            cells.append(f"{cost['load_ms']:14.1f} {cost['peak_mib']:7.1f}" if cost else f"{'-':>14} {'-':>7}")
        ratios = [cost_ratio(row, cost, chosen) for cost in COST_LIMITS]
        cells += [f"{'-':>6}" if ratio is None else f"{ratio:6.2f}" for ratio in ratios]
        lines.append(f"{row['model']:<20} " + " ".join(cells))
    return lines


def cost_ratio(row, cost, chosen):
    """Returns ours divided by the smallest of the others, or None."""
    others = [row["engines"][name][cost] for name in chosen if name != "ours" and name in row["engines"]]
    if not others or "ours" not in row["engines"]:
        return None
    return max(row["engines"]["ours"][cost], 1e-9) / max(min(others), 1e-9)


def summarise_costs(rows, chosen):
    """Returns, for load and for memory, the geometric mean and the nets above the limit of a single net."""
    summary = []
    for cost, (mean_limit, net_limit) in COST_LIMITS.items():
        found = {row["model"]: cost_ratio(row, cost, chosen) for row in first_rows(rows)}
        found = {model: ratio for model, ratio in found.items() if ratio is not None}
        if not found:
            continue
        above = {model: ratio for model, ratio in found.items() if ratio > net_limit}
        summary.append({
            "cost": cost, "nets": len(found), "geometric_mean": geometric_mean(found.values()),
            "mean_limit": mean_limit, "net_limit": net_limit, "above": above,
        })  # fmt: skip
    return summary


def costs_lines(summary):
    lines = [""]
    for entry in summary:
        above = sorted(entry["above"].items(), key=lambda pair: -pair[1])
        lines.append(
            f"{COST_NAMES[entry['cost']]}, ours / the best other, {entry['nets']} nets: geometric mean "
            f"{entry['geometric_mean']:.3f} (aim: {entry['mean_limit']:.2f}); above {entry['net_limit']:.2f}: "
            + (", ".join(f"{model} {ratio:.2f}" for model, ratio in above) or "none")
        )
    return lines


def summarise(rows):
    """Summarises each group of nets, number of threads and other engine: mean, worst net, verdicts."""
    summary = []
    models = {row["model"] for row in rows}
    groups = {**lists.GROUPS, "other": models.difference(*lists.GROUPS.values())}
    for name, parts in lists.UNIONS.items():
        if all(models.intersection(groups[part]) for part in parts):
            groups[name] = sum((groups[part] for part in parts), [])
    for group, names in groups.items():
        group_rows = [row for row in rows if row["model"] in names]
        for threads in sorted({row["threads"] for row in group_rows}):
            part = [row for row in group_rows if row["threads"] == threads]
            for name in [*engines.NAMES, "best"]:
                found = [(row["ratios"][name], row["model"]) for row in part if name in row["ratios"]]
                if found:
                    summary.append(summary_entry(group, threads, name, found, len(names)))
    return summary


def summary_entry(group, threads, name, found, listed):
    worst, worst_net = max((ratio["median"], model) for ratio, model in found)
    mean = geometric_mean([ratio["median"] for ratio, _ in found])
    counts = {kind: sum(ratio["verdict"] == kind for ratio, _ in found) for kind in ("ahead", "level", "behind")}
    return {
        "group": group, "threads": threads, "other": name, "nets": len(found), "listed": listed, "geometric_mean": mean,
        "worst": worst, "worst_net": worst_net, **counts,
        "ahead_overall": len(found) == listed and mean <= AHEAD_OVERALL and worst <= WORST_ALLOWED,
    }  # fmt: skip


def summary_lines(summary):
    lines = [""]
    for entry in summary:
        other = "the best other" if entry["other"] == "best" else entry["other"]
        overall = "ahead overall" if entry["ahead_overall"] else "not ahead overall"
        lines.append(
            f"{entry['group']}, {entry['threads']} thread(s), ours / {other}: "
            f"geometric mean {entry['geometric_mean']:.3f}, worst {entry['worst']:.3f} ({entry['worst_net']}); "
            f"ahead {entry['ahead']}, level {entry['level']}, behind {entry['behind']} of {entry['nets']} "
            f"(list: {entry['listed']}): {overall}"
        )
    return lines


def versions(rows):
    return {name: engine["version"] for row in rows for name, engine in row["engines"].items()}


def write_json(path, conditions, rows, absent):
    document = {
        **conditions,
        "versions": versions(rows),
        "absent": absent,
        "results": rows,
        "summary": summarise(rows),
        "costs": summarise_costs(rows, conditions["engines"]),
    }
    resume.write(path, document)


def write_chart(path, rows, chosen):
    """Draws the ratios with p10 and p90, one panel for each number of threads."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    counts = sorted({row["threads"] for row in rows})
    models = list(dict.fromkeys(row["model"] for row in rows))
    others = [name for name in chosen if name != "ours" and any(name in row["ratios"] for row in rows)]
    height = 1.5 + 0.22 * len(models) * max(len(others), 1)
    figure, axes = pyplot.subplots(1, len(counts), figsize=(6.5 * len(counts), height), squeeze=False, sharey=True)
    for axis, threads in zip(axes[0], counts):
        for index, name in enumerate(others):
            points = [
                (models.index(row["model"]) + (index + 0.5) / len(others) - 0.5, row["ratios"][name])
                for row in rows
                if row["threads"] == threads and name in row["ratios"]
            ]
            middles = [ratio["median"] for _, ratio in points]
            below = [ratio["median"] - ratio["p10"] for _, ratio in points]
            above = [ratio["p90"] - ratio["median"] for _, ratio in points]
            axis.barh(
                [y for y, _ in points], middles, 0.8 / len(others), xerr=[below, above], label=name,
                error_kw={"elinewidth": 0.8},
            )  # fmt: skip
        axis.axvline(1.0, color="black", linewidth=1)
        axis.set_yticks(range(len(models)), models)
        axis.set_title(f"{threads} thread(s)")
        axis.set_xlabel("time of ours / time of the other (below 1: ours is faster)")
    axes[0][0].set_ylim(len(models) - 0.4, -0.6)  # the first net at the top
    if others:
        axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
