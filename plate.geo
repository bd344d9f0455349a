SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 1, 1};
