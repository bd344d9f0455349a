/* The absorbing term of an element (border.h) by a warp, in double. Part of border_cuda.cu and
 * half_step_cuda.cu: V has nodes, face_nodes, averaged, faces, lift and matrices. */

enum { BORDER_WARP = 32 };

/* One element and its warp. */
template <typename real> struct place {
    const ps_dgtd_border_element *element;
    real *field; /* component 0, coefficient 0 */
    double *former;
    int lane;
};

/* Element k of a border and its warp. */
template <typename real, class V>
__device__ __forceinline__ place<real> place_of(const V &v, const ps_dgtd_border_element *elements,
                                                double *former, int64_t k, void *field)
{
    const int64_t slot = elements[k].slot, L = 64 / (int)sizeof(real);
    return {elements + k, static_cast<real *>(field) + slot / L * 3 * v.nodes * L + slot % L,
            former + k * 8 * v.face_nodes, (int)threadIdx.x % BORDER_WARP};
}

/* Tangential component of a field: item = (face k, tangent, node). */
template <typename real, class V>
__device__ double trace(const V &v, const place<real> &x, int item)
{
    const ps_dgtd_border_face *face = x.element->face + item / (2 * v.face_nodes);
    const double *tangent = face->tangent[item / v.face_nodes % 2];
    const int n = v.faces.node[face->face][item % v.face_nodes];
    double sum = 0;
    for (int c = 0; c < 3; ++c)
        sum += tangent[c] * (double)x.field[(c * v.nodes + n) * (64 / (int)sizeof(real))];
    return sum;
}

/* field += LIFT of the traces [faces][2][face nodes] of the element's first faces. */
template <typename real, class V>
__device__ void add_lifted(const V &v, const place<real> &x, int faces, const double *traces)
{
    const int nf = v.face_nodes;
    for (int item = x.lane; item < 3 * v.nodes; item += BORDER_WARP) {
        const int c = item / v.nodes, i = item % v.nodes;
        double sum = 0;
        for (int k = 0; k < faces; ++k) {
            const ps_dgtd_border_face *face = x.element->face + k;
            const double *row = v.lift + (face->face * v.nodes + i) * nf, *in = traces + 2 * k * nf;
            for (int m = 0; m < nf; ++m)
                sum += row[m] * (face->tangent[0][c] * in[m] + face->tangent[1][c] * in[nf + m]);
        }
        real *to = x.field + item * (64 / (int)sizeof(real));
        *to = (real)((double)*to + sum);
    }
    __syncwarp();
}

/* The absorbing term: of the old field, or of the mean of old and new one. */
template <typename real, class V>
__device__ void absorb(const V &v, const place<real> &x, int which, double *in, double *out)
{
    const int nf = v.face_nodes, absorbing = x.element->absorbing, size = 2 * nf * absorbing;
    const int n = absorbing == 1 ? nf : size; /* one face: the tangents share a matrix */
    const double *matrix = v.matrices + x.element->matrix + (int64_t)which * n * n;
    for (int item = x.lane; item < size; item += BORDER_WARP)
        in[item] = v.averaged ? trace(v, x, item) + x.former[item] : x.former[item];
    __syncwarp();
    for (int item = x.lane; item < size; item += BORDER_WARP) {
        double sum = 0;
        if (v.averaged)
            for (int c = 0; c < n; ++c) sum += matrix[item % n * n + c] * in[item / n * n + c];
        else
            sum = 2 * x.element->face[item / (2 * nf)].decay[which] * in[item];
        out[item] = -sum;
    }
    __syncwarp();
    add_lifted(v, x, absorbing, out);
}

/* What the next half step of this field takes as the old traces. */
template <typename real, class V>
__device__ void keep_traces(const V &v, const place<real> &x)
{
    for (int item = x.lane; item < x.element->absorbing * 2 * v.face_nodes; item += BORDER_WARP)
        x.former[item] = trace(v, x, item);
}

