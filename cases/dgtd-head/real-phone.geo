// A head from MRI (HEAD, mm: volumes 1 .. 4 tissues, 5 air; surfaces 1 the skin, 5 the outer sphere) beside the phone of
// head.geo, as far from its widest place: the air alone is meshed anew, between skin, phone and sphere. Groups of the
// file, and 16 phone, 17 antenna, 18 feed. h: edge at the phone, half of it at the feed; H: outside; F: Hz.
DefineConstant[ h = 8, H = 35, F = 900e6, widest = 91, beside = 12 ];
Merge "head.msh";
Delete { Volume{5}; }
x0 = widest + beside; x1 = x0 + 20; w = 45; z0 = -100; z1 = 5; xs = (x0 + x1) / 2;
gap = 8; strip = 0.25 * 299792458e3 / F - gap; half = 3;
// box: corners 1001..1004 below, 1005..1008 above
p = 1000; l = 1000; s = 1000;
For k In {0:1}
  z = z0 + k * (z1 - z0);
  Point(p + 1 + 4 * k) = {x0, -w / 2, z}; Point(p + 2 + 4 * k) = {x1, -w / 2, z};
  Point(p + 3 + 4 * k) = {x1, w / 2, z}; Point(p + 4 + 4 * k) = {x0, w / 2, z};
EndFor
For i In {1:4}
  j = i % 4 + 1;
  Line(l + i) = {p + i, p + j}; Line(l + 4 + i) = {p + 4 + i, p + 4 + j}; Line(l + 8 + i) = {p + i, p + 4 + i};
EndFor
Curve Loop(s + 1) = {l + 1, l + 2, l + 3, l + 4}; Plane Surface(s + 1) = {s + 1};
Curve Loop(s + 2) = {l + 5, l + 6, l + 7, l + 8}; Plane Surface(s + 2) = {s + 2};
For i In {1:4}
  j = i % 4 + 1;
  Curve Loop(s + 2 + i) = {l + i, l + 8 + j, -(l + 4 + i), -(l + 8 + i)}; Plane Surface(s + 2 + i) = {s + 2 + i};
EndFor
// feed and antenna: a strip along x in the plane y = 0
For k In {0:2}
  z = (k == 0) ? z1 : (k == 1) ? z1 + gap : z1 + gap + strip;
  Point(p + 11 + 2 * k) = {xs - half, 0, z}; Point(p + 12 + 2 * k) = {xs + half, 0, z};
  Line(l + 21 + k) = {p + 11 + 2 * k, p + 12 + 2 * k};
EndFor
For k In {0:1}
  Line(l + 31 + 2 * k) = {p + 11 + 2 * k, p + 13 + 2 * k}; Line(l + 32 + 2 * k) = {p + 12 + 2 * k, p + 14 + 2 * k};
  Curve Loop(s + 11 + k) = {l + 21 + k, l + 32 + 2 * k, -(l + 22 + k), -(l + 31 + 2 * k)}; Plane Surface(s + 11 + k) = {s + 11 + k};
EndFor
Curve{l + 21} In Surface{s + 2};
Surface Loop(s) = {1, 5, s + 1, s + 2, s + 3, s + 4, s + 5, s + 6};
Volume(s) = {s};
Surface{s + 11, s + 12} In Volume{s};
Physical Volume("air", 5) = {s};
Physical Surface("phone", 16) = {s + 1, s + 2, s + 3, s + 4, s + 5, s + 6};
Physical Surface("antenna", 17) = {s + 12};
Physical Surface("feed", 18) = {s + 11};
Field[1] = Box; Field[1].XMin = x0 - 5; Field[1].XMax = x1 + 5; Field[1].YMin = -w / 2 - 5; Field[1].YMax = w / 2 + 5; Field[1].ZMin = z0 - 5; Field[1].ZMax = z1 + gap + strip + 5;
Field[1].VIn = h; Field[1].VOut = H; Field[1].Thickness = 80;
Field[3] = Ball; Field[3].XCenter = xs; Field[3].ZCenter = z1 + gap / 2; Field[3].Radius = 12; Field[3].Thickness = 60; Field[3].VIn = h / 2; Field[3].VOut = H;
Field[4] = Min; Field[4].FieldsList = {1, 3};
Background Field = 4;
Mesh.MeshSizeExtendFromBoundary = 1; Mesh.MeshSizeFromPoints = 0; Mesh.MeshSizeFromCurvature = 0;
Mesh.Optimize = 1;
Mesh 3;
