package dev.warmpath.extproc.template;

/**
 * A template that cannot be read, or a conversation that it cannot render. The message says why.
 */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TemplateException(String message) {
    super(message);
  }
}
