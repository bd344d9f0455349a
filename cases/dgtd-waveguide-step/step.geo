// A rectangular guide A x B that goes on as S, lower (PLANE = 0) or narrower (PLANE = 1), half of it: a magnetic wall at x = 0, the middle of the
// width. L: length of either guide; near, far: edges at the step and away from it; UGLY: as the mesher leaves its tetrahedra. Set by the Makefile.
SetFactory("OpenCASCADE");
e = 1e-6;
w = PLANE ? S / 2 : A / 2;
h = PLANE ? B : S;
Box(1) = {0, 0, 0, A / 2, B, L};
Box(2) = {0, 0, L, w, h, L};
v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; };
one() = Surface In BoundingBox{-e, -e, -e, A / 2 + e, B + e, e};
two() = Surface In BoundingBox{-e, -e, 2 * L - e, w + e, h + e, 2 * L + e};
middle() = Surface In BoundingBox{-e, -e, -e, e, B + e, 2 * L + e};
inner() = Surface In BoundingBox{-e, -e, L - e, w + e, h + e, L + e};
walls() = Surface{:}; walls() -= {one(), two(), middle(), inner()};
Physical Volume("air", 1) = {v()};
Physical Surface("one", 11) = {one()}; Physical Surface("two", 12) = {two()};
Physical Surface("middle", 13) = {middle()}; Physical Surface("walls", 14) = {walls()};
edge() = Curve In BoundingBox{PLANE ? w - e : -e, PLANE ? -e : h - e, L - e, w + e, h + e, L + e};
Field[1] = Distance; Field[1].CurvesList = {edge()}; Field[1].NumPointsPerCurve = 40;
Field[2] = Threshold; Field[2].InField = 1; Field[2].SizeMin = near; Field[2].SizeMax = far; Field[2].DistMin = near; Field[2].DistMax = .01;
Background Field = 2;
Mesh.MeshSizeExtendFromBoundary = 0; Mesh.MeshSizeFromPoints = 0; Mesh.MeshSizeFromCurvature = 0;
If (UGLY)
  Mesh.Optimize = 0; Mesh.RandomFactor = 1e-2;
EndIf
