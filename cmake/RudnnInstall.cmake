# Install tree and exported package (find_package(Rudnn)).
