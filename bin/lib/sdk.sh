# Sourced. install_sdks makes one Python environment per file e2e/sdk/requirements-NAME.txt, in .cache/sdk/NAME, or says what
# to install and exits with 3. An environment whose requirements have not changed is left alone.

install_sdks() {
  local root=$1 cache=${WARMPATH_CACHE:-$1/.cache}/sdk requirements name home log
  if ! command -v python3 >/dev/null 2>&1; then
    echo "bin/test: python3 is missing. Install it, for example: apt-get install python3 python3-venv" >&2
    exit 3
  fi
  for requirements in "$root"/e2e/sdk/requirements-*.txt; do
    name=$(basename "$requirements" .txt)
    name=${name#requirements-}
    home=$cache/$name
    cmp -s "$requirements" "$home/installed.txt" && continue
    echo "-- Python SDKs ($name) into $cache/$name"
    rm -rf "$home"
    mkdir -p "$cache"
    log=$cache/$name.log
    if ! python3 -m venv "$home" >"$log" 2>&1; then
      tail -5 "$log" >&2
      echo "bin/test: python3 cannot make a virtual environment. On Debian or Ubuntu: apt-get install python3-venv" >&2
      exit 3
    fi
    if ! "$home/bin/python" -m pip install --disable-pip-version-check -q -r "$requirements" >"$log" 2>&1; then
      tail -15 "$log" >&2
      echo "bin/test: the SDKs could not be installed. To see why: $home/bin/python -m pip install -r $requirements" >&2
      exit 3
    fi
    cp "$requirements" "$home/installed.txt"
  done
}
