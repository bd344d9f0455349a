/* penstock.h: all of the library. */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include "file.h"
#include "hmatrix.h"
#include "integrals.h"
#include "sum.h"

#endif
