package dev.warmpath.crds.cel;

/** What {@link CelEnvironments#compile} made of an expression. */
public sealed interface CelResult permits Compiled, CelProblem {}
