// A head of four nested ellipsoids beside a phone, in metres: skin, skull, CSF and brain (x to the
// right ear, y forward, z up), the phone a metal box with a quarter-wave strip on top, upright by
// the right ear, all in a sphere of air. Groups: volumes 1 skin, 2 skull, 3 csf, 4 brain, 5 air;
// surfaces 11 skin_surface, 12 outer_skull, 13 inner_skull, 14 brain_surface, 15 absorbing,
// 16 phone (the box is a hole), 17 antenna (a sheet).
// h: edge length in the head and at the phone; outside it grows to H. h, H, F may be set before.
SetFactory("OpenCASCADE");
// Bounds of dilated spheres by their poles would be too large.
Geometry.OCCBoundsUseStl = 1;
Mesh.StlLinearDeflection = 0.0005; Mesh.StlAngularDeflection = 0.1;
// feed: 1 puts a strip, the faces of a port, between box and antenna: surface 18 feed.
DefineConstant[ h = 0.01, H = 0.035, A = 0.25, F = 900e6, feed = 0 ];

// Half axes of the skin; depths of the other surfaces below it.
a = 0.078; b = 0.098; c = 0.112;
depth() = {0, 0.006, 0.013, 0.017};
Sphere(1) = {0, 0, 0, A};
For i In {0:3}
  Sphere(2 + i) = {0, 0, 0, 1};
  Dilate {{0, 0, 0}, {a - depth(i), b - depth(i), c - depth(i)}} { Volume{2 + i}; }
EndFor

// The phone: box x0..x1, width w, from z0 to z1; a gap for the feed, then the strip.
x0 = a + 0.012; x1 = x0 + 0.02; w = 0.045; z0 = -0.1; z1 = 0.005;
gap = 0.008; strip = 0.25 * 299792458 / F - gap; half = 0.003; xs = (x0 + x1) / 2;
Box(6) = {x0, -w / 2, z0, x1 - x0, w, z1 - z0};
s = newreg;
Rectangle(s) = {-half, 0, 0, 2 * half, strip};
Rotate {{1, 0, 0}, {0, 0, 0}, Pi / 2} { Surface{s}; }
Translate {xs, 0, z1 + gap} { Surface{s}; }
sheets() = {s};
If (feed)
  t = newreg;
  Rectangle(t) = {-half, 0, 0, 2 * half, gap};
  Rotate {{1, 0, 0}, {0, 0, 0}, Pi / 2} { Surface{t}; }
  Translate {xs, 0, z1} { Surface{t}; }
  sheets() += t;
EndIf
BooleanFragments{ Volume{1}; Delete; }{ Volume{2:6}; Surface{sheets()}; Delete; }

e = 1e-4;
Macro Inside // volumes() within a box of half axes u, v, t
  volumes() = Volume In BoundingBox{-u - e, -v - e, -t - e, u + e, v + e, t + e};
Return
u = a - depth(3); v = b - depth(3); t = c - depth(3); Call Inside;
brain() = volumes();
u = a - depth(2); v = b - depth(2); t = c - depth(2); Call Inside;
csf() = volumes(); csf() -= brain();
u = a - depth(1); v = b - depth(1); t = c - depth(1); Call Inside;
skull() = volumes(); skull() -= brain(); skull() -= csf();
u = a; v = b; t = c; Call Inside;
skin() = volumes(); skin() -= brain(); skin() -= csf(); skin() -= skull();
brainFaces() = Abs(Boundary{ Volume{brain()}; });
csfFaces() = Abs(Boundary{ Volume{csf()}; }); csfFaces() -= brainFaces();
skullFaces() = Abs(Boundary{ Volume{skull()}; }); skullFaces() -= csfFaces();
skinFaces() = Abs(Boundary{ Volume{skin()}; }); skinFaces() -= skullFaces();
phone() = Volume In BoundingBox{x0 - e, -w / 2 - e, z0 - e, x1 + e, w / 2 + e, z1 + e};
phoneFaces() = Abs(Boundary{ Volume{phone()}; });
antenna() = Surface In BoundingBox{xs - half - e, -e, z1 + gap - e, xs + half + e, e, z1 + gap + strip + e};
air() = Volume{:};
air() -= brain(); air() -= csf(); air() -= skull(); air() -= skin(); air() -= phone();
outer() = Surface{:};
outer() -= brainFaces(); outer() -= csfFaces(); outer() -= skullFaces(); outer() -= skinFaces();
outer() -= phoneFaces(); outer() -= antenna();
If (feed)
  port() = Surface In BoundingBox{xs - half - e, -e, z1 - e, xs + half + e, e, z1 + gap + e};
  outer() -= port();
  Physical Surface("feed", 18) = port();
EndIf
Delete { Volume{phone()}; }

Physical Volume("skin", 1) = skin();
Physical Volume("skull", 2) = skull();
Physical Volume("csf", 3) = csf();
Physical Volume("brain", 4) = brain();
Physical Volume("air", 5) = air();
Physical Surface("skin_surface", 11) = skinFaces();
Physical Surface("outer_skull", 12) = skullFaces();
Physical Surface("inner_skull", 13) = csfFaces();
Physical Surface("brain_surface", 14) = brainFaces();
Physical Surface("absorbing", 15) = outer();
Physical Surface("phone", 16) = phoneFaces();
Physical Surface("antenna", 17) = antenna();

// h within the head and around the phone, finer at the feed, H at the outside.
Field[1] = Ball;
Field[1].Radius = 0.14; Field[1].Thickness = A - 0.14; Field[1].VIn = h; Field[1].VOut = H;
Field[2] = Ball;
Field[2].XCenter = xs; Field[2].ZCenter = z1 + gap / 2;
Field[2].Radius = 0.012; Field[2].Thickness = 0.06; Field[2].VIn = 0.5 * h; Field[2].VOut = H;
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeFromCurvature = 0;
Mesh.Optimize = 1;
