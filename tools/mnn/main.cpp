// The entry of the command line tool: parses, calls one command, turns errors into exit codes.
// 0 success, 1 something failed, 2 wrong usage.
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "common.h"
#include "resident.h"

int main(int argc, char** argv) {
    const uint64_t residentAtStart = tool::statusBytes("VmRSS");
    int exitCode = 0;
    CLI::App app{"mnn - inspects, runs, checks and times .mnn neural networks"};
    app.set_version_flag("--version", std::string("mnn ") + mnn_version());
    app.require_subcommand(1);
    app.get_formatter()->column_width(36);
    app.footer(
        "Examples:\n"
        "  mnn info net.mnn\n"
        "  mnn run net.mnn --input data=photo.png --mean 123.7,116.3,103.5 --scale 0.0171,0.0175,0.0174 \\\n"
        "      --top 5 --labels names.txt --output results\n"
        "  mnn run net.mnn --input tokens=tokens.npy --output results\n"
        "  mnn verify cases/*/ --threads 2\n"
        "  mnn bench net.mnn --threads 2 --json\n"
        "  mnn profile net.mnn --top 20\n"
        "  mnn devices\n"
        "  mnn info net.mnn --backend vulkan\n"
        "  mnn compare net.mnn --backends cpu,vulkan\n"
        "'mnn COMMAND --help' tells more. Exit codes: 0 success, 1 something failed, 2 wrong usage.");
    try {
        tool::addInfo(app);
        tool::addRun(app);
        tool::addVerify(app, exitCode);
        tool::addBench(app, residentAtStart);
        tool::addCompare(app, exitCode);
        tool::addDevices(app);
        tool::addProfile(app);
        app.parse(argc, argv);
        return exitCode;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const tool::UsageError& error) {
        fmt::print(stderr, "mnn: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "mnn: {}\n", error.what());
        return 1;
    }
}
