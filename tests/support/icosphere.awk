# awk -v n=N -f icosphere.awk: an icosahedron, each triangle cut into N^2, on the unit sphere, as OFF: 10 N^2 + 2 vertices.
function vid(i, j, k,    key, m, x, y, z, r) {
  m = 0; split("", e)
  if (i) { m++; v[m] = A; w[m] = i } if (j) { m++; v[m] = B; w[m] = j } if (k) { m++; v[m] = C; w[m] = k }
  for (p = 1; p < m; p++) for (q = 1; q < m; q++) if (v[q] > v[q+1]) { t = v[q]; v[q] = v[q+1]; v[q+1] = t; t = w[q]; w[q] = w[q+1]; w[q+1] = t }
  key = ""; x = y = z = 0
  for (p = 1; p <= m; p++) { key = key v[p] ":" w[p] " "; x += X[v[p]] * w[p]; y += Y[v[p]] * w[p]; z += Z[v[p]] * w[p] }
  if (!(key in id)) { r = sqrt(x*x + y*y + z*z); id[key] = np; line[np++] = sprintf("%.9g %.9g %.9g", ax*x/r, ay*y/r, az*z/r) }
  return id[key]
}
BEGIN {
  if (!ax) ax = ay = az = 1
  g = (1 + sqrt(5)) / 2
  s = split("-1 g 0,1 g 0,-1 -g 0,1 -g 0,0 -1 g,0 1 g,0 -1 -g,0 1 -g,g 0 -1,g 0 1,-g 0 -1,-g 0 1", L, ",")
  for (a = 1; a <= s; a++) { split(L[a], c3, " "); for (d = 1; d <= 3; d++) c3[d] = c3[d] == "g" ? g : c3[d] == "-g" ? -g : c3[d] + 0; X[a-1] = c3[1]; Y[a-1] = c3[2]; Z[a-1] = c3[3] }
  nf = split("0 11 5,0 5 1,0 1 7,0 7 10,0 10 11,1 5 9,5 11 4,11 10 2,10 7 6,7 1 8,3 9 4,3 4 2,3 2 6,3 6 8,3 8 9,4 9 5,2 4 11,6 2 10,8 6 7,9 8 1", F, ",")
  np = 0; nt = 0
  for (f = 1; f <= nf; f++) { split(F[f], c, " "); A = c[1] + 0; B = c[2] + 0; C = c[3] + 0
    for (i = 0; i < n; i++) for (j = 0; j < n - i; j++) { k = n - i - j
      P = vid(k, i, j); Q = vid(k-1, i+1, j); R = vid(k-1, i, j+1); tri[nt++] = "3 " P " " Q " " R
      if (k >= 2) { S = vid(k-2, i+1, j+1); tri[nt++] = "3 " Q " " S " " R } } }
  print "OFF"; print np, nt, 0
  for (a = 0; a < np; a++) print line[a]
  for (a = 0; a < nt; a++) print tri[a]
}
