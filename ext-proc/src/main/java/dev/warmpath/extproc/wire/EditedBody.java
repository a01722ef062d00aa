package dev.warmpath.extproc.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.warmpath.extproc.route.BodyEdit;
import java.util.List;

/**
 * Applies byte-span edits to a body without copying what stays: the result shares the array, which
 * must not be changed any more.
 */
final class EditedBody {
  private EditedBody() {}

  static ByteString apply(byte[] bytes, List<BodyEdit> edits) {
    ByteString body = UnsafeByteOperations.unsafeWrap(bytes);
    ByteString result = ByteString.EMPTY;
    int position = 0;
    for (BodyEdit edit : edits) {
      if (edit.start() < position || edit.end() < edit.start() || edit.end() > body.size()) {
        throw new IllegalArgumentException(
            "edit [%d, %d) does not fit behind %d in a body of %d bytes"
                .formatted(edit.start(), edit.end(), position, body.size()));
      }
      result =
          result
              .concat(body.substring(position, edit.start()))
              .concat(UnsafeByteOperations.unsafeWrap(edit.replacement()));
      position = edit.end();
    }
    return result.concat(body.substring(position));
  }
}
