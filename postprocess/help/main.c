/*
 * penstock-help, and under the name "penstock" the front command.
 */
#include <string.h>

#include "postprocess/help/figure_table.h"
#include "postprocess/help/help.h"
#include "runtime/log.h"

static const char *man_folder;
static bool completion, list;

static ps_status run_help(ps_run *run)
{
    if (man_folder) {
        int count = 0;
        PS_TRY(man_pages_write(man_folder, &count));
        ps_info("%d manual pages written to %s", count, man_folder);
        return PS_OK;
    }
    if (completion) return completion_print();
    if (run->operand_count == 0 || list) {
        listing_print(run);
        return PS_OK;
    }
    static char option[] = "--help";
    char *argv[] = {NULL, option, NULL};
    return dispatch_program(run->operands[0], argv);
}

static const ps_option options[] = {
    PS_FLAG("list", &list, 0, "list the stages and programs (so does no argument)"),
    PS_TEXT("man-pages", &man_folder, "DIR", 0,
            "write a manual page for every program into this folder"),
    PS_FLAG("completion", &completion, 0, "print a completion script for bash"), PS_OPTION_END};

static const ps_program program = {
    .name = "help",
    .synopsis = "[PROGRAM]",
    .description = "Lists the programs of Penstock in the order of use, or shows the help of one.\n"
                   "Manual pages and completion are made from the programs' own --help.\n\n"
                   "Under the name \"penstock\" it is the front command: \"penstock PROGRAM ...\" "
                   "runs\npenstock-PROGRAM, found beside it or on PATH.",
    .examples =
        "  penstock help\n  penstock help mesh-import\n"
        "  penstock-help --completion > ~/.local/share/bash-completion/completions/penstock",
    .options = options,
    .figures = figure_table,
    .reads_only = true,
    .run = run_help};

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    if (strcmp(name, "penstock") == 0) return dispatch_front(argc, argv);
    return ps_main(&program, argc, argv);
}
