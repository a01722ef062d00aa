package dev.warmpath.extproc.route;

import dev.warmpath.extproc.request.InferenceRequest;
import dev.warmpath.extproc.request.InferenceRequest.Span;
import dev.warmpath.extproc.request.InferenceRequest.StreamOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What must change in a body: the model's name, where the upstream has another, and the wish for
 * usage, where the client did not have it. Every other byte stays as the client sent it.
 */
record BodyEdits(
    List<BodyEdit> edits, boolean asksForUsage, Decision.@Nullable ModelNames modelNames) {
  private static final String MODEL = "\"model\":";
  private static final String USAGE = "\"include_usage\":true";

  static BodyEdits of(InferenceRequest request, List<Target> targets) {
    List<BodyEdit> edits = new ArrayList<>(2);
    String upstreamModel = targets.getFirst().upstreamModel();
    Span model = request.modelSpan();
    int literalLength = model.end() - model.start();
    int before = 0;
    if (!request.modelNamed() && model.start() == model.end()) {
      // Other fields follow: without a prompt the body would not have been understood.
      before = MODEL.length();
      BodyEdit edit =
          replace(model.start(), model.end(), MODEL + JsonText.quote(upstreamModel) + ",");
      literalLength = edit.replacement().length - before - 1;
      edits.add(edit);
    } else if (!request.modelNamed() || !upstreamModel.equals(request.model())) {
      BodyEdit edit = replace(model.start(), model.end(), JsonText.quote(upstreamModel));
      literalLength = edit.replacement().length;
      edits.add(edit);
    }
    BodyEdit usage = usage(request.streamOptions());
    if (usage != null) {
      edits.add(usage);
      edits.sort(Comparator.comparingInt(BodyEdit::start));
    }
    int shift =
        usage != null && usage.start() < model.start()
            ? usage.replacement().length - (usage.end() - usage.start())
            : 0;
    int start = model.start() + shift + before;
    return new BodyEdits(
        List.copyOf(edits),
        usage != null,
        modelNames(targets, upstreamModel, start, start + literalLength));
  }

  private static Decision.@Nullable ModelNames modelNames(
      List<Target> targets, String inBody, int start, int end) {
    Map<String, String> others = new HashMap<>();
    for (Target target : targets) {
      if (!target.upstreamModel().equals(inBody)) {
        others.put(target.clusterName(), JsonText.quote(target.upstreamModel()));
      }
    }
    return others.isEmpty() ? null : new Decision.ModelNames(others, start, end);
  }

  private static @Nullable BodyEdit usage(StreamOptions options) {
    return switch (options) {
      case StreamOptions.UsageGiven given -> null;
      case StreamOptions.Absent absent ->
          replace(absent.insertAt(), absent.insertAt(), "\"stream_options\":{" + USAGE + "},");
      case StreamOptions.Null nothing ->
          replace(nothing.value().start(), nothing.value().end(), "{" + USAGE + "}");
      case StreamOptions.WithoutUsage object ->
          replace(object.insertAt(), object.insertAt(), USAGE + (object.empty() ? "" : ","));
      case StreamOptions.UsageRefused refused ->
          replace(refused.value().start(), refused.value().end(), "true");
    };
  }

  private static BodyEdit replace(int start, int end, String text) {
    return new BodyEdit(start, end, text.getBytes(StandardCharsets.UTF_8));
  }
}
