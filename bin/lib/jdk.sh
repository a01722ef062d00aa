# Sourced. find_jdk25 exports JAVA_HOME of a JDK 25, or says what to install and exits with 3.

# The release file answers without starting a JVM, which would cost each bin/warmpath half a second.
is_jdk25() {
  [ -n "${1:-}" ] && [ -x "$1/bin/javac" ] || return 1
  if [ -f "$1/release" ]; then
    grep -q '^JAVA_VERSION="25\b' "$1/release"
  else
    "$1/bin/javac" -version 2>&1 | grep -q '^javac 25\b'
  fi
}

find_jdk25() {
  local candidate
  for candidate in \
    "${WARMPATH_JAVA_HOME:-}" "${JAVA_HOME:-}" \
    "$(command -v javac >/dev/null 2>&1 && dirname "$(dirname "$(readlink -f "$(command -v javac)")")")" \
    /usr/lib/jvm/*25* /opt/java/* /opt/jdk* "$HOME"/.sdkman/candidates/java/25* "$HOME"/.jdks/*25* \
    /Library/Java/JavaVirtualMachines/*25*/Contents/Home; do
    if is_jdk25 "$candidate"; then
      export JAVA_HOME=$candidate
      return 0
    fi
  done
  cat >&2 <<'MSG'
warmpath: no JDK 25 found. Looked at WARMPATH_JAVA_HOME, JAVA_HOME, the javac on the PATH, /usr/lib/jvm, /opt, ~/.sdkman and ~/.jdks.
Install one, for example:
  Debian/Ubuntu  apt-get install temurin-25-jdk     (Adoptium repository)
  any Linux      sdk install java 25-tem            (sdkman.io)
  macOS          brew install --cask temurin@25
or set WARMPATH_JAVA_HOME to an existing one.
MSG
  exit 3
}
