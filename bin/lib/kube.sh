#!/usr/bin/env bash
# Finds kube-apiserver, etcd and helm for the tests. Sourced: find_kube exports WARMPATH_KUBE_BIN (the folder that holds all
# three), or says what to install and returns 3. Run: prints that folder.
#
# Order: WARMPATH_KUBE_BIN as given; the project's cache; NAME.gz in a folder shared/tools/kube beside the checkout (or in
# WARMPATH_KUBE_ARCHIVES), unpacked into the cache; else the pinned source build of e2e/kube, with Go, into the cache.
# Versions: kube.version, etcd.version and helm.version of the root pom. Linux only (flock).

warmpath_kube_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kube_programs="kube-apiserver etcd helm"
# Packages that the three programs consist of, for the progress line.
kube_packages=3100

kube_pom() {
  sed -n "s:.*<$1\.version>\(.*\)</$1\.version>.*:\1:p" "$warmpath_kube_root/pom.xml" | head -n 1
}

kube_versions() {
  echo "kube-apiserver $(kube_pom kube) etcd $(kube_pom etcd) helm $(kube_pom helm)"
}

kube_cache() {
  echo "${WARMPATH_CACHE:-$warmpath_kube_root/.cache}/kube-$(kube_pom kube)"
}

kube_archives() {
  echo "${WARMPATH_KUBE_ARCHIVES:-$(dirname "$warmpath_kube_root")/shared/tools/kube}"
}

kube_note() {
  [ -n "${WARMPATH_QUIET:-}" ] || echo "-- $*" >&2
}

# All three are there, in the pinned versions.
kube_is_complete() {
  local name
  for name in $kube_programs; do
    [ -x "$1/$name" ] || return 1
  done
  [ "$(cat "$1/versions.txt" 2>/dev/null)" = "$(kube_versions)" ]
}

kube_has_archives() {
  local name
  for name in $kube_programs; do
    [ -f "$(kube_archives)/$name.gz" ] || return 1
  done
}

# Whether find_kube can succeed: returns 3 with the install command where it surely can't. Quick.
check_kube() {
  [ -n "${WARMPATH_KUBE_BIN:-}" ] && { kube_given; return $?; }
  kube_is_complete "$(kube_cache)" || kube_has_archives || kube_go
}

kube_given() {
  local name
  for name in $kube_programs; do
    if [ ! -x "$WARMPATH_KUBE_BIN/$name" ]; then
      echo "warmpath: WARMPATH_KUBE_BIN=$WARMPATH_KUBE_BIN holds no executable $name. It needs $(kube_versions). Correct it, or unset it to have them built." >&2
      return 3
    fi
  done
  export WARMPATH_KUBE_BIN
}

kube_go() {
  local go
  go=$(go env GOVERSION 2>/dev/null) && case $go in
    # An older Go from 1.21 on fetches the version that the go.mod asks for.
    go1.2[1-9]* | go1.[3-9][0-9]* | devel*) return 0 ;;
  esac
  cat >&2 <<MSG
warmpath: no $(kube_versions), and no Go to build them (found: ${go:-none}). Install Go 1.26 or newer, one of
  apt-get install golang-1.26-go        (Debian/Ubuntu, where it has that version; then put /usr/lib/go-1.26/bin on the PATH)
  https://go.dev/dl/                    (unpack, and put go/bin on the PATH)
or set WARMPATH_KUBE_BIN to a folder that holds the three programs.
MSG
  return 3
}

find_kube() {
  if [ -n "${WARMPATH_KUBE_BIN:-}" ]; then
    kube_given
    return $?
  fi
  local cache status=0
  cache=$(kube_cache)
  if ! kube_is_complete "$cache"; then
    mkdir -p "$cache" || return 3
    if ! command -v flock >/dev/null 2>&1; then
      echo "warmpath: flock is missing. Install it, for example: apt-get install util-linux" >&2
      return 3
    fi
    # A second caller waits for the first one.
    (
      flock 8
      kube_is_complete "$cache" && exit 0
      if kube_has_archives; then kube_unpack "$cache"; else kube_build "$cache"; fi
    ) 8>"$cache/.lock" || status=$?
    [ $status -eq 0 ] || return 3
  fi
  export WARMPATH_KUBE_BIN=$cache
}

kube_unpack() {
  local cache=$1 name
  kube_note "unpacking kube-apiserver, etcd and helm into $cache"
  for name in $kube_programs; do
    gzip -dc "$(kube_archives)/$name.gz" >"$cache/$name.new" && chmod 755 "$cache/$name.new" \
      && mv -f "$cache/$name.new" "$cache/$name" || return 3
  done
  kube_mark "$cache"
}

# Written last: a cache without it is not complete. Asks the programs themselves.
kube_mark() {
  local cache=$1 found
  found="kube-apiserver $("$cache/kube-apiserver" --version | sed 's/^Kubernetes v//')"
  found="$found etcd $("$cache/etcd" --version | sed -n 's/^etcd Version: //p')"
  found="$found helm $("$cache/helm" version --template '{{.Version}}' | sed 's/^v//')"
  if [ "$found" != "$(kube_versions)" ]; then
    echo "warmpath: $cache holds $found, but the root pom asks for $(kube_versions)." >&2
    return 3
  fi
  echo "$found" >"$cache/versions.txt"
}

kube_build() {
  local cache=$1 log=$1/build.log kube helm x
  kube_go || return 3
  kube=$(kube_pom kube)
  helm=$(kube_pom helm)
  x=k8s.io/component-base/version
  : >"$log"
  kube_note "building kube-apiserver $kube, etcd $(kube_pom etcd) and helm $helm from source, once (10 to 20 minutes, 4 GB in Go's caches; log: $log)"
  kube_step "$cache" "$log" helm helm helm.sh/helm/v3/cmd/helm \
    "-X helm.sh/helm/v3/internal/version.version=v$helm" || return 3
  kube_step "$cache" "$log" apiserver kube-apiserver . \
    "-X $x.gitVersion=v$kube -X $x.gitMajor=1 -X $x.gitMinor=$(echo "$kube" | cut -d. -f2) -X $x.gitTreeState=clean" || return 3
  kube_step "$cache" "$log" apiserver etcd go.etcd.io/etcd/server/v3 "" || return 3
  kube_mark "$cache" && kube_note "kube-apiserver, etcd and helm are built"
}

# kube_step CACHE LOG FOLDER PROGRAM PACKAGE LINKER-FLAGS
kube_step() {
  local cache=$1 log=$2 folder=$3 program=$4 package=$5 flags=$6 pid began=$SECONDS told=0 passed
  (
    cd "$warmpath_kube_root/e2e/kube/$folder" \
      && GOFLAGS="-mod=readonly -trimpath" GOWORK=off CGO_ENABLED=0 \
        exec nice -n 5 go build -v -p "${WARMPATH_GO_JOBS:-$(nproc)}" -ldflags "-s -w $flags" -o "$cache/$program.new" "$package"
  ) >>"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; exit 3' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    passed=$((SECONDS - began))
    if [ $((passed - told)) -ge 30 ]; then
      told=$passed
      kube_note "building $program: ${passed} s, $(grep -vc '^go: ' "$log") of about $kube_packages packages"
    fi
  done
  trap - INT TERM
  if ! wait "$pid"; then
    tail -n 12 "$log" >&2
    echo "warmpath: $program could not be built. To see why: (cd e2e/kube/$folder && go build -mod=readonly $package)" >&2
    return 3
  fi
  mv -f "$cache/$program.new" "$cache/$program"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -uo pipefail
  find_kube || exit $?
  echo "$WARMPATH_KUBE_BIN"
fi
