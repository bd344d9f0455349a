/*
 * Table 1 of Bramas, Coulaud, Sylvand (2014) by simulation: the extra cost of the balancing over
 * the optimum, 6 workers, 10,000 items, 40 iterations. The table beside the paper's goes to
 * stderr, records to stdout. The paper names neither its four heterogeneities nor their order, and
 * its row Up-Down has lost a number; the floor of a record is the paper's largest of the row.
 */
#include <stdio.h>

#include "tests/support/balance_case.h"
#include "tests/support/record.h"

enum { SEED = 1 };

static const char *const paper[BALANCE_COSTS] = {
    "0.0 0.1 0.1 -  ", "0.0 0.0 0.1 0.1", "0.1 0.1 0.2 0.2", "0.0 0.0 0.2 0.0", "0.0 0.0 0.1 0.1"};
static const double paper_largest[BALANCE_COSTS] = {0.1, 0.1, 0.2, 0.2, 0.1};

static void record(int cost, int factor, const char *quantity, double value)
{
    bench_record("cpu", "worker-balance",
                 text("%s, costs %s, workers %s", quantity, balance_cost_names[cost],
                      balance_factor_names[factor]),
                 value, "%", paper_largest[cost], "6 workers, 10000 items, 40 iterations");
}

static int show_row(int cost)
{
    fprintf(stderr, "%-8s", balance_cost_names[cost]);
    for (int factor = 0; factor < BALANCE_FACTORS; ++factor) {
        balance_case item = {cost, factor, SEED};
        balance_outcome plain, ours;
        if (balance_simulate(&item, true, &plain) != PS_OK) return 1;
        if (balance_simulate(&item, false, &ours) != PS_OK) return 1;
        double published = fabs(balance_extra(&plain, plain.rolled_back));
        double last = fabs(balance_extra(&plain, plain.last));
        double improved = fabs(balance_extra(&ours, ours.rolled_back));
        fprintf(stderr, "  %5.3f %5.3f (%5.3f)", improved, published, last);
        record(cost, factor, "extra cost over the optimum", improved);
        record(cost, factor, "extra cost, published rule", published);
    }
    fprintf(stderr, "   %s\n", paper[cost]);
    return 0;
}

int main(void)
{
    int failed = 0;
    fprintf(stderr,
            "extra cost over the optimum in %%: ours, the published rule (without its rollback); "
            "the paper's four columns\n%-8s",
            "costs");
    for (int factor = 0; factor < BALANCE_FACTORS; ++factor)
        fprintf(stderr, "  %19s", balance_factor_names[factor]);
    fprintf(stderr, "   paper\n");
    for (int cost = 0; cost < BALANCE_COSTS; ++cost) failed |= show_row(cost);
    if (failed) fprintf(stderr, "bench_runtime_balance: %s\n", ps_message());
    return failed;
}
