#include "postprocess/help/help.h"

#include <stdio.h>
#include <string.h>

static int longest_name(void)
{
    int longest = 0;
    for (int i = 0; i < program_count; ++i) {
        int length = (int)strlen(programs[i].name);
        if (length > longest) longest = length;
    }
    return longest;
}

static void print_stage(void *context, const char *stage, const program_entry *first, int count)
{
    char path[4096];
    printf("\n%s\n", stage);
    for (int i = 0; i < count; ++i)
        printf("  %-*s %s%s\n", *(const int *)context, first[i].name, first[i].summary,
               program_path(&first[i], path, sizeof path) ? "" : " [not installed]");
}

static void print_json(const ps_run *run)
{
    char path[4096];
    ps_report *report = ps_report_new(run);
    for (int i = 0; i < program_count; ++i) {
        ps_report_section(report, programs[i].name);
        ps_report_text(report, "stage", programs[i].stage);
        ps_report_text(report, "reads", programs[i].reads);
        ps_report_text(report, "writes", programs[i].writes);
        ps_report_text(report, "summary", programs[i].summary);
        ps_report_flag(report, "installed", program_path(&programs[i], path, sizeof path));
    }
    ps_report_print(&report);
}

void listing_print(const ps_run *run)
{
    if (run && run->json) {
        print_json(run);
        return;
    }
    int width = longest_name();
    printf("Penstock: an out-of-core pipeline of field solvers. Programs, in the order of use:\n");
    for_each_stage(print_stage, &width);
    printf("\n\"penstock PROGRAM ...\" runs one, \"penstock help PROGRAM\" explains it.\n");
}
