package dev.warmpath.extproc.label;

/** Labels of one request by key; a label is computed when it is asked for, once. */
@FunctionalInterface
public interface LabelSource {
  /** No classifier at all: every label is unknown. */
  LabelSource NONE = key -> Label.unknown(Label.Source.NONE, "no classifier gives it", 0);

  /** Never null and never throws; a key that nobody knows is unknown. */
  Label label(String key);
}
