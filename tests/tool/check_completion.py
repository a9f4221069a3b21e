#!/usr/bin/env python3
"""Every command, option and value of the tool's help is completed, in each shell.

    check_completion.py TOOL [PREFIX]

bash runs its script. Those of fish and zsh are read; where these shells are installed they read them, too, and fish
completes. With PREFIX the installed scripts must be those that the tool prints.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SHELLS = {"bash": "share/bash-completion/completions/mnn", "fish": "share/fish/vendor_completions.d/mnn.fish",
          "zsh": "share/zsh/*/_mnn"}


def call(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def read_help(tool):
    """command -> option -> values, as the help texts have them."""
    listed = re.findall(r"^  (\w+) {2,}", call(tool, "--help").split("Subcommands:")[1], flags=re.M)
    commands = {}
    for command in listed:
        options = {}
        for names, rest in re.findall(r"^  ((?:-\w,)?--[\w-]+)(.*)", call(tool, command, "--help"), flags=re.M):
            values = re.search(r"\{([\w,]+)\}", rest)
            for name in names.split(","):
                options[name] = values.group(1).split(",") if values else []
        commands[command] = options
    if len(commands) < 9 or sum(map(len, commands.values())) < 80 or "auto" not in commands["run"]["--backend"]:
        sys.exit(f"the help was not understood: {commands}")
    return commands


def expect(found, wanted, what):
    missing = set(wanted) - set(found)
    if missing:
        sys.exit(f"{what}: {sorted(missing)} are missing among {found}")


def check_bash(script, commands):
    lines = {"": ["mnn", ""]}
    for command, options in commands.items():
        lines[command] = ["mnn", command, "-"]
        for option, values in options.items():
            if values:
                lines[f"{command} {option}"] = ["mnn", command, "net.mnn", option, ""]
                lines[f"{command} {option}="] = ["mnn", command, option, "=", values[0][:1]]
    lines["completion SHELL"] = ["mnn", "completion", ""]
    lines["info MODEL"] = ["mnn", "info", ""]
    program = [f"source {script}"]
    for words in lines.values():
        program.append(f"COMP_WORDS=({' '.join(repr(word) for word in words)}) COMP_CWORD={len(words) - 1}")
        program.append('COMPREPLY=(); _mnn; echo "${COMPREPLY[*]}"')
    answers = dict(zip(lines, call("bash", "-uc", "\n".join(program)).split("\n")))
    expect(answers[""].split(), [*commands, "--help", "--version"], "bash: the commands")
    for command, options in commands.items():
        expect(answers[command].split(), options, f"bash: the options of {command}")
        for option, values in options.items():
            if values:
                expect(answers[f"{command} {option}"].split(), values, f"bash: the values of {option}")
                expect(answers[f"{command} {option}="].split(), values[:1], f"bash: the values of {option}=")
    expect(answers["completion SHELL"].split(), SHELLS, "bash: the shells")
    if answers["info MODEL"]:
        sys.exit(f"bash: {answers['info MODEL']!r} comes where a file is wanted")


def check_fish(script, text, commands):
    installed = shutil.which("fish")
    for command, options in commands.items():
        lines = [line for line in text.split("\n") if f"'__fish_seen_subcommand_from {command}'" in line]
        found = {match.group(1): match.group(2) or "" for match in
                 (re.search(r" -[ls] ([\w-]+)(?: -x -a '([^']*)')?", line) for line in lines) if match}
        expect(found, [option.lstrip("-") for option in options], f"fish: the options of {command}")
        for option, values in options.items():
            expect(found[option.lstrip("-")].split(), values, f"fish: the values of {option}")
        if f"__fish_use_subcommand -f -a {command} " not in text:
            sys.exit(f"fish: the command {command} is missing")
        if installed:
            answer = call(installed, "-c", f"source {script}; complete -C 'mnn {command} --'")
            expect(re.findall(r"^(--[\w-]+)", answer, flags=re.M),
                   [option for option in options if option.startswith("--")], f"fish completes {command}")


def check_zsh(script, text, commands):
    if shutil.which("zsh"):
        call("zsh", "-n", script)
    for command, options in commands.items():
        if f"        '{command}:" not in text:
            sys.exit(f"zsh: the command {command} is missing")
        section = re.search(rf"^    {command}\) _arguments(.*) ;;$", text, flags=re.M)
        found = dict(re.findall(r"'\*(--?[\w-]+)=?\[(?:[^\]\\]|\\.)*\](?::value:\(([^)]*)\))?", section.group(1)))
        expect(found, options, f"zsh: the options of {command}")
        for option, values in options.items():
            expect(found[option].split(), values, f"zsh: the values of {option}")


def main():
    tool = pathlib.Path(sys.argv[1])
    commands = read_help(tool)
    with tempfile.TemporaryDirectory() as folder:
        for shell, place in SHELLS.items():
            text = call(tool, "completion", shell)
            script = pathlib.Path(folder, shell)
            script.write_text(text)
            if shell == "bash":
                check_bash(script, commands)
            elif shell == "fish":
                check_fish(script, text, commands)
            else:
                check_zsh(script, text, commands)
            if len(sys.argv) > 2:
                installed = list(pathlib.Path(sys.argv[2]).glob(place))
                if [path.read_text() for path in installed] != [text]:
                    sys.exit(f"{installed} is not what 'mnn completion {shell}' prints")


if __name__ == "__main__":
    main()
