/*
 * listing: the stages and programs, in order, for people or as JSON.
 */
#ifndef PS_HELP_LISTING_H
#define PS_HELP_LISTING_H

#include <stdbool.h>

void listing_print(bool json);

#endif
