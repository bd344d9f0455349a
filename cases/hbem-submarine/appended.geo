// A submarine of 20.6 m with sail and fins, own design (no boat's): a hull of revolution along x, bow at x = 0, of two
// half ellipsoids and a cylinder; a sail of elliptic section; a cross of fins at the stern.
SetFactory("OpenCASCADE");
R = 1.2; bow = 2.4; middle = 13; length = 20.6;
Sphere(1) = {0, 0, 0, R};
Dilate {{0, 0, 0}, {bow / R, 1, 1}} { Volume{1}; }
Translate {bow, 0, 0} { Volume{1}; }
Sphere(2) = {0, 0, 0, R};
Dilate {{0, 0, 0}, {(length - middle) / R, 1, 1}} { Volume{2}; }
Translate {middle, 0, 0} { Volume{2}; }
Cylinder(3) = {bow, 0, 0, middle - bow, 0, 0, R};
// The sail: its foot lies within the hull.
Disk(1000) = {6.5, 0, .6, 1.5, .32};
sail[] = Extrude {0, 0, 1.7} { Surface{1000}; };
// Fins of .16 m, upright and level.
Box(5) = {18, -.08, -1.25, 1.3, .16, 2.5};
Box(6) = {18, -1.25, -.08, 1.3, 2.5, .16};
BooleanUnion{ Volume{1}; Delete; }{ Volume{2, 3, sail[1], 5, 6}; Delete; }
