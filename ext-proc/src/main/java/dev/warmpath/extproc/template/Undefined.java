package dev.warmpath.extproc.template;

/** The value of a name that nothing was given for. */
enum Undefined {
  VALUE
}
