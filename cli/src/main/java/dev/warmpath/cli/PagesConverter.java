package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.net.URI;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Where a part's pages are: a URL, or {@code HOST:PORT} as {@code --admin} of other commands. */
final class PagesConverter implements ITypeConverter<URI> {
  @Override
  public URI convert(String text) {
    try {
      return read(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** From that environment variable. */
  static URI ofEnvironment(String name, String text) {
    try {
      return read(text);
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, name + ": " + e.getMessage());
    }
  }

  private static URI read(String text) {
    String wrong = "'" + text + "' is neither HOST:PORT nor a URL such as http://127.0.0.1:9901";
    try {
      boolean url = text.contains("://");
      URI pages = URI.create(url ? text : "http://" + text);
      boolean complete = pages.getHost() != null && (url || pages.getPort() > 0);
      if (!complete || !pages.getScheme().matches("https?")) {
        throw new IllegalArgumentException(wrong);
      }
      return pages;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(wrong, e);
    }
  }
}
