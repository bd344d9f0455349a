/*
 * man_page: manual pages in roff, one a program and one for the front command.
 */
#ifndef PS_HELP_MAN_PAGE_H
#define PS_HELP_MAN_PAGE_H

#include "runtime/status.h"

/* Writes FOLDER/penstock-NAME.1 for every installed program and FOLDER/penstock.1. Programs
 * that are not installed are left out; *count is the number of pages written. */
ps_status man_pages_write(const char *folder, int *count);

#endif
