// Exists so that CMake has a target to build the precompiled header for.
