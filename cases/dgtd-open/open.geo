// Balls of air about a dipole, the inner one a group of its own: A its radius, R the outer one, h the edge. Set by the Makefile.
SetFactory("OpenCASCADE");
Sphere(1) = {0,0,0,R}; Sphere(2) = {0,0,0,A};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
e = 1e-3;
inner() = Volume In BoundingBox{-A-e,-A-e,-A-e, A+e,A+e,A+e};
air() = Volume{:}; air() -= inner();
skin() = Surface In BoundingBox{-A-e,-A-e,-A-e, A+e,A+e,A+e};
outer() = Surface{:}; outer() -= skin();
Physical Volume("inner",1) = {inner()};
Physical Volume("air",2) = {air()};
Physical Surface("outer",11) = {outer()};
Mesh.MeshSizeMin = h; Mesh.MeshSizeMax = h; Mesh.MeshSizeExtendFromBoundary = 0; Mesh.MeshSizeFromPoints = 0; Mesh.MeshSizeFromCurvature = 0;
