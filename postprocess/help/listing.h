/*
 * listing: the stages and programs, in order, for people or, if the run says so, as JSON; the run
 * may be NULL.
 */
#ifndef PS_HELP_LISTING_H
#define PS_HELP_LISTING_H

struct ps_run;

void listing_print(const struct ps_run *run);

#endif
