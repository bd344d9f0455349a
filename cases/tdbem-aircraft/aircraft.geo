// A parametric twin-engined airliner as one closed surface, for Gmsh's OpenCASCADE kernel.
//
// x runs from the nose to the tail, y to starboard, z up; metres. The shape is Penstock's own:
// a transport aircraft in its usual proportions, no real type. Change the numbers below or set
// them from the command line of gmsh (-setnumber span 30); the mesh size is the caller's
// (penstock-mesh-import --size).
SetFactory("OpenCASCADE");

DefineConstant[
  length  = {34.0, Name "fuselage length"},
  radius  = {2.0,  Name "fuselage radius"},
  span    = {34.0, Name "wing span"},
  root    = {7.2,  Name "wing chord on the centre line"},
  tip     = {2.0,  Name "wing chord at the tip"},
  sweep   = {27.0, Name "sweep of the wing's leading edge, degrees"},
  rise    = {5.0,  Name "dihedral of the wing, degrees"},
  depth   = {0.15, Name "thickness of the wing over its chord"},
  engine  = {1.1,  Name "engine radius"}
];
deg = Pi / 180;

// Appends to sections() a symmetric airfoil: chord c from the leading edge at (px, py, pz)
// along x, thickness th times c, across y where upright is 1 (the fin) or across z where it is
// 0. Half thickness of the four-digit series with a closed trailing edge.
Macro Airfoil
  stations() = {0.0125, 0.05, 0.15, 0.3, 0.5, 0.75};
  leading = newp; Point(leading) = {px, py, pz};
  upper() = {leading}; lower() = {leading};
  For i In {0 : #stations() - 1}
    s = stations(i);
    y = 5 * th * c * (0.2969 * Sqrt(s) - 0.1260 * s - 0.3516 * s^2 + 0.2843 * s^3 - 0.1036 * s^4);
    p = newp; Point(p) = {px + s * c, py + upright * y, pz + (1 - upright) * y};
    upper() += {p};
    p = newp; Point(p) = {px + s * c, py - upright * y, pz - (1 - upright) * y};
    lower() += {p};
  EndFor
  trailing = newp; Point(trailing) = {px + c, py, pz};
  upper() += {trailing}; lower() += {trailing};
  over = newc; Spline(over) = upper();
  under = newc; Spline(under) = lower();
  loop = newll; Wire(loop) = {over, -under};
  sections() += {loop};
Return

// ---- fuselage: elliptic nose and barrel, revolved; upswept tail cone; rounded end ----
nose = 2.4 * radius; barrel = 0.62 * length;
p = newp;
Point(p) = {0, 0, 0}; Point(p + 1) = {nose, 0, 0}; Point(p + 2) = {nose, 0, -radius};
Point(p + 3) = {barrel, 0, -radius}; Point(p + 4) = {barrel, 0, 0};
l = newc;
Ellipse(l) = {p, p + 1, p, p + 2}; Line(l + 1) = {p + 2, p + 3}; Line(l + 2) = {p + 3, p + 4};
Line(l + 3) = {p + 4, p};
k = newll; Curve Loop(k) = {l : l + 3};
s = news; Plane Surface(s) = {k};
out() = Extrude {{1, 0, 0}, {0, 0, 0}, 2 * Pi} { Surface{s}; };
body() = {out(1)};
Recursive Delete { Surface{s}; }

last = 0.24 * radius; cone = length - last - barrel; sections() = {};
For i In {0 : 7}
  u = i / 7; r = radius - (radius - last) * u^1.9;
  q = newc; Circle(q) = {barrel + u * cone, 0, 0.62 * (radius - r), r, 0, 2 * Pi};
  Rotate {{0, 1, 0}, {barrel + u * cone, 0, 0.62 * (radius - r)}, Pi / 2} { Curve{q}; }
  k = newll; Wire(k) = {q};
  sections() += {k};
EndFor
v = newv; ThruSections(v) = sections();
body() += {v};
v = newv; Sphere(v) = {length - last, 0, 0.62 * (radius - last), last};
body() += {v};

// ---- wing: five sections, from tip to tip through the fuselage, with a kink ----
half = span / 2; kink = 0.42 * half; slope = Tan(sweep * deg); lift = Tan(rise * deg);
wx = 0.335 * length; wz = -0.5 * radius;
break = tip + (root - tip) * 0.40;
reach() = {-half, -kink, 0, kink, half};
chord() = {tip, break, root, break, tip};
sections() = {};
For j In {0 : 4}
  a = Fabs(reach(j)); px = wx + a * slope; py = reach(j); pz = wz + a * lift;
  c = chord(j); th = depth; upright = 0;
  Call Airfoil;
EndFor
v = newv; Ruled ThruSections(v) = sections();
body() += {v};

// ---- tailplane and fin ----
reach() = {-0.19 * span, 0, 0.19 * span}; chord() = {0.26 * root, 0.58 * root, 0.26 * root};
sections() = {};
For j In {0 : 2}
  a = Fabs(reach(j)); px = 0.835 * length + a * Tan(33 * deg); py = reach(j);
  pz = 0.55 * radius + a * Tan(6 * deg); c = chord(j); th = 0.13; upright = 0;
  Call Airfoil;
EndFor
v = newv; Ruled ThruSections(v) = sections();
body() += {v};
sections() = {};
For j In {0 : 1}
  px = 0.785 * length + j * 0.128 * length; py = 0; pz = 0.35 * radius + j * 3.25 * radius;
  c = (0.92 - 0.57 * j) * root; th = 0.13; upright = 1;
  Call Airfoil;
EndFor
v = newv; Ruled ThruSections(v) = sections();
body() += {v};

// ---- engines: revolved nacelles with rounded ends, each under the wing on a pylon ----
For side In {-1 : 1 : 2}
  ey = side * 0.33 * half; ez = wz + 0.33 * half * lift - 1.42 * engine;
  ex = wx + 0.33 * half * slope - 2.3 * engine;
  p = newp;
  Point(p) = {ex, ey, ez}; Point(p + 1) = {ex + 0.5 * engine, ey, ez};
  Point(p + 2) = {ex + 0.5 * engine, ey, ez - engine};
  Point(p + 3) = {ex + 1.9 * engine, ey, ez - 0.98 * engine};
  Point(p + 4) = {ex + 3.1 * engine, ey, ez - 0.78 * engine};
  Point(p + 5) = {ex + 3.9 * engine, ey, ez - 0.45 * engine};
  Point(p + 6) = {ex + 4.1 * engine, ey, ez};
  l = newc;
  Ellipse(l) = {p, p + 1, p + 2, p + 2}; Spline(l + 1) = {p + 2 : p + 5};
  Line(l + 2) = {p + 5, p + 6}; Line(l + 3) = {p + 6, p};
  k = newll; Curve Loop(k) = {l : l + 3};
  s = news; Plane Surface(s) = {k};
  out() = Extrude {{1, 0, 0}, {0, ey, ez}, 2 * Pi} { Surface{s}; };
  body() += {out(1)};
  Recursive Delete { Surface{s}; }
  q = newc; Ellipse(q) = {ex + 2.45 * engine, ey, ez, 1.2 * engine, 0.33 * engine, 0, 2 * Pi};
  k = newll; Curve Loop(k) = {q};
  s = news; Plane Surface(s) = {k};
  out() = Extrude {1.9 * engine, 0, 1.42 * engine} { Surface{s}; };
  body() += {out(1)};
  Recursive Delete { Surface{s}; }
EndFor

whole() = BooleanUnion { Volume{body(0)}; Delete; }{ Volume{body({1 : #body() - 1})}; Delete; };
// What the solids were drawn with is no part of the aircraft.
Delete { Curve{:}; }
Delete { Point{:}; }
Physical Surface("aircraft", 1) = Abs(Boundary { Volume{whole()}; });
