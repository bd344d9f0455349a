/*
 * krylov_passes_body: what each pass of krylov.h does to row i, once for CPU cores and devices.
 *
 * The including file defines BEFORE(name, arrays, body) for what comes before a product,
 * AFTER(name, arrays, body) for what comes after one, and IN(x), IO(x), the arrays of a
 * ps_krylov_vectors that are read, or written too. In a body, d is D^-1 of the row, alpha and omega
 * are the scalars of the pass, s0, s1, s2 its sums, of type `wide`.
 */

/* When a method starts, q holds A x. */
BEFORE(cg_start, IN(b); IN(q); IO(r); IO(p), r[i] = b[i] - q[i]; p[i] = 0; s0 += (wide)b[i] * b[i];
       s1 += (wide)r[i] * r[i]; s2 += (wide)r[i] * r[i] * d;)
BEFORE(cg_direction, IN(r); IO(p), p[i] = d * r[i] + alpha * p[i];)
AFTER(cg_curvature, IN(p); IN(q), s0 += (wide)p[i] * q[i];)
BEFORE(cg_advance, IN(p); IN(q); IO(x); IO(r), x[i] += alpha * p[i]; r[i] -= alpha * q[i];
       s0 += (wide)r[i] * r[i]; s1 += (wide)r[i] * r[i] * d;)

/* BiCGStab: q is v, z is t. */
BEFORE(stab_start, IN(b); IO(q); IO(r); IO(p); IO(h); IO(z), r[i] = b[i] - q[i]; h[i] = r[i];
       p[i] = 0; q[i] = 0; z[i] = 0; s0 += (wide)b[i] * b[i]; s1 += (wide)r[i] * r[i];)
BEFORE(stab_direction, IN(r); IN(q); IO(p); IO(u), p[i] = r[i] + alpha * (p[i] - omega * q[i]);
       u[i] = d * p[i];)
AFTER(stab_shadow, IN(h); IN(q), s0 += (wide)h[i] * q[i];)
BEFORE(stab_half, IN(q); IO(r), r[i] -= alpha * q[i]; s0 += (wide)r[i] * r[i];)
BEFORE(stab_turn, IN(r); IO(u), u[i] = d * r[i];)
AFTER(stab_products, IN(r); IN(z), s0 += (wide)z[i] * r[i]; s1 += (wide)z[i] * z[i];)
BEFORE(stab_advance, IN(p); IN(z); IN(h); IO(x); IO(r), x[i] += d * (alpha * p[i] + omega * r[i]);
       r[i] -= omega * z[i]; s0 += (wide)r[i] * r[i]; s1 += (wide)h[i] * r[i];)

BEFORE(cr_start, IN(b); IO(q); IO(r); IO(p); IO(z), r[i] = b[i] - q[i]; z[i] = d * r[i]; p[i] = 0;
       q[i] = 0; s0 += (wide)b[i] * b[i]; s1 += (wide)r[i] * r[i];)
AFTER(cr_first_product, IN(z); IN(w), s2 += (wide)z[i] * w[i];)
BEFORE(cr_direction, IN(z); IN(w); IO(p); IO(q), p[i] = z[i] + alpha * p[i];
       q[i] = w[i] + alpha * q[i]; s0 += (wide)d * q[i] * q[i];)
BEFORE(cr_advance, IN(p); IN(q); IO(x); IO(r); IO(z), x[i] += alpha * p[i]; r[i] -= alpha * q[i];
       z[i] -= alpha * d * q[i]; s0 += (wide)r[i] * r[i];)
AFTER(cr_product, IN(z); IN(w), s1 += (wide)z[i] * w[i];)
