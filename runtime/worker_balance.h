/*
 * worker_balance: which contiguous interval of items (slices, tiles) each worker of a node takes
 * in the next iteration, from the seconds that each took in the last (Bramas, Coulaud, Sylvand
 * 2014, 5.2). A worker is a GPU with its core, or all other cores together.
 *
 * It knows no threads and no clocks: the caller runs an iteration with the intervals given here
 * and hands back the seconds. What is loaded for the first time in an iteration is not to be part
 * of them: it would not come again. Streaming that comes again every time is.
 *
 * An iteration, O(W): t_i the seconds, s_i the items of worker i, t_a the mean of t, c_i = t_i/s_i.
 *   slower than t_a:  s_i -= r_i,                   r_i = (t_i - t_a)/c_i
 *   faster than t_a:  s_i += o_i (sum r)/(sum o),   o_i = (t_a - t_i)/c_i
 * then whole numbers: at least 1 (0 if there are fewer items than workers) and at most the cap,
 * the others rescaled to keep the sum, rounded down, what is left over to the largest remainders
 * (of equal ones the first). After a fixed number of iterations the intervals go back to those
 * with the smallest largest t_i, and stay.
 *
 * Beyond the paper, as the rule alone may circle around uneven costs (6 % above the optimum for
 * costs 1 + 9 frac(2x)) and rounding may hold it still: after 8 iterations without a better one
 * it starts again from the best with half the change, and if nothing would move, one item goes
 * from the slowest to the fastest (not with byte caps). With both, 2500 cases of the paper's
 * simulation stay within 0.14 % of the optimum.
 *
 * Equal times give equal intervals. Local; a balance belongs to one thread at a time.
 */
#ifndef PS_RUNTIME_WORKER_BALANCE_H
#define PS_RUNTIME_WORKER_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_worker_balance ps_worker_balance;

typedef struct ps_worker_balance_config {
    int workers;              /* W >= 1                                                      */
    int64_t items;            /* n >= 0                                                      */
    int64_t iterations;       /* measured before the intervals settle; 0: they never move    */
    bool plain;               /* the published rule alone, to compare with                   */
    const int64_t *item_caps; /* [workers] most items a worker may hold, 0: any; NULL: none  */
    /* [workers] most bytes, 0: any, and [items] the bytes of each item, >= 0; NULL: none. */
    const int64_t *byte_caps, *item_bytes;
} ps_worker_balance_config;

/* Starts with equal numbers of items, as far as the caps allow. Caps that together cannot take
 * all items are dropped for all workers (one that holds more than fits streams the rest). The
 * arrays are copied. PS_USAGE: no worker, negative numbers, or byte caps without bytes.
 * PS_EXHAUSTED. */
ps_status ps_worker_balance_open(const ps_worker_balance_config *config, ps_worker_balance **out);
void ps_worker_balance_close(ps_worker_balance **balance); /* NULL inside is fine */

/* Items [*first, *end) of worker i, i = 0 .. W-1; the intervals follow one another and cover all
 * items. */
void ps_worker_balance_interval(const ps_worker_balance *balance, int worker, int64_t *first,
                                int64_t *end);

/* seconds[W]: what each worker took for its interval in the iteration that has just ended, >= 0.
 * Moves the intervals; once settled it changes nothing. Fewer items than workers, or no time at
 * all, move nothing. PS_USAGE: a time that is negative or not finite; nothing has changed then. */
ps_status ps_worker_balance_update(ps_worker_balance *balance, const double *seconds);

/* True once the intervals stay as they are. */
bool ps_worker_balance_settled(const ps_worker_balance *balance);

/* Sets the intervals, first[W + 1] from 0 to the number of items in rising order, and settles:
 * for runs that repeat a split to the bit. Caps are not looked at. PS_USAGE for other bounds. */
ps_status ps_worker_balance_fix(ps_worker_balance *balance, const int64_t *first);

#endif
