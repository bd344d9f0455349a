// A ball of radius R in a sphere of radius A, in metres, for Mie scattering. Groups: volumes 1 ball,
// 2 outside; surfaces 11 skin (of the ball), 12 absorbing (the outer sphere).
// h: edge length inside; outside it grows to H. R, A, h, H may be set by lines before.
SetFactory("OpenCASCADE");
DefineConstant[ R = 0.2, A = 1, h = 0.05, H = 0.16 ];

Sphere(1) = {0, 0, 0, A};
Sphere(2) = {0, 0, 0, R};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }

e = 1e-3 * R;
ball() = Volume In BoundingBox{-R - e, -R - e, -R - e, R + e, R + e, R + e};
all() = Volume{:};
outside() = all();
outside() -= ball();
skin() = Surface In BoundingBox{-R - e, -R - e, -R - e, R + e, R + e, R + e};
faces() = Surface{:};
outer() = faces();
outer() -= skin();
Physical Volume("ball", 1) = ball();
Physical Volume("outside", 2) = outside();
Physical Surface("skin", 11) = skin();
Physical Surface("absorbing", 12) = outer();

// Facets lie inside a sphere: the mesh of the ball has less volume by about (h/R)^2/8 of it.
Field[1] = Ball;
Field[1].Radius = R;
Field[1].Thickness = A - R;
Field[1].VIn = h;
Field[1].VOut = H;
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeFromCurvature = 0;
