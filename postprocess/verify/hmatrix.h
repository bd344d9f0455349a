/* H-matrices in penstock-verify: parts, hashes of leaves, and errors against exact rows. */
#ifndef PS_POSTPROCESS_VERIFY_HMATRIX_H
#define PS_POSTPROCESS_VERIFY_HMATRIX_H

#include "formats/store.h"

typedef struct hmatrix_request {
    int64_t rows;         /* sampled against exact ones; 0: none     */
    const char *clusters; /* NULL: the input's name, beside the file */
    bool quick;
    int64_t host_memory;
} hmatrix_request;

/* What the exact rows told; rows 0: none were asked for. */
typedef struct hmatrix_errors {
    int64_t rows;
    double tolerance, error, worst; /* relative, of all rows together and of the worst one */
    double reference;               /* what the exact rows err by themselves, estimated     */
} hmatrix_errors;

/* Adds chunks and bytes of the parts to *result. PS_INVALID where anything is damaged; PS_FAILED
 * where the error is more than twice the tolerance, or the exact rows themselves cannot tell. */
ps_status verify_hmatrix(const char *path, const hmatrix_request *request, ps_verify_result *result,
                         hmatrix_errors *errors);

#endif
