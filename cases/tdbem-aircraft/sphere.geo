// A sphere of radius 1, for the check against the exact solution.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 1};
Physical Surface("sphere", 1) = Abs(Boundary { Volume{1}; });
