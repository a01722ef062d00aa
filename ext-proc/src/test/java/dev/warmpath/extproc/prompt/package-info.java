@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.prompt;
