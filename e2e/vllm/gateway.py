"""Starts real workers and the gateway for the suite, and asks both what they know."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = "tiny"
CACHE_BLOCKS, BLOCK = 2048, 32
START_PATIENCE = 600
EVENTS = {
    "enable_kv_cache_events": True,
    "publisher": "zmq",
    "endpoint": "tcp://*:0",
    "replay_endpoint": "tcp://*:0",
    "topic": "kv-events",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url, timeout=30):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.read().decode()


class Process:
    """A child in a group of its own, so that it and all of its own children end together."""

    def __init__(self, name, folder, command, env):
        self.name = name
        self.log = folder / f"{name}.log"
        self.command, self.env = command, env
        self.child = None
        self.start()

    def start(self):
        with open(self.log, "ab") as out:
            self.child = subprocess.Popen(
                self.command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=self.env, start_new_session=True
            )

    def stop(self):
        if self.child is None:
            return
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, how)
                self.child.wait(20)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self.child = None

    def await_url(self, url):
        end = time.time() + START_PATIENCE
        while time.time() < end:
            if self.child.poll() is not None:
                break
            try:
                get(url, 5)
                return
            except OSError:
                time.sleep(0.5)
        raise RuntimeError(f"{self.name} did not start; its log is {self.log}:\n" + self.log.read_text()[-2000:])


class Worker(Process):
    def __init__(self, name, folder, home):
        self.port = free_port()
        env = dict(
            os.environ,
            VLLM_ENABLE_V1_MULTIPROCESSING="0",
            VLLM_CPU_KVCACHE_SPACE="1",
            VLLM_CPU_OMP_THREADS_BIND="nobind",
            OMP_NUM_THREADS="1",
            VLLM_HOST_IP="127.0.0.1",
            HF_HUB_OFFLINE="1",
            TRANSFORMERS_OFFLINE="1",
            VLLM_NO_USAGE_STATS="1",
        )
        super().__init__(
            name,
            folder,
            [
                str(home / "env/bin/vllm"), "serve", str(home / "model"), "--served-model-name", MODEL,
                "--host", "127.0.0.1", "--port", str(self.port), "--load-format", "dummy", "--dtype", "float32",
                "--enforce-eager", "--max-model-len", "32768", "--block-size", str(BLOCK), "--max-num-seqs", "8",
                "--num-gpu-blocks-override", str(CACHE_BLOCKS), "--distributed-executor-backend", "uni",
                "--enable-prefix-caching", "--enable-prompt-tokens-details", "--enable-server-load-tracking",
                "--enable-auto-tool-choice", "--tool-call-parser", "hermes",
                "--kv-events-config", json.dumps(EVENTS),
            ],
            env,
        )  # fmt: skip

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ready(self):
        self.await_url(self.url + "/health")

    def restart(self):
        self.stop()
        self.start()
        self.ready()

    def counter(self, name):
        return sum(float(v) for v in re.findall(rf"^vllm:{name}(?:\{{[^}}]*\}})? (\S+)$", get(self.url + "/metrics"), re.M))


class Gateway(Process):
    """mode: approximate, assisted or exact."""

    def __init__(self, folder, workers, mode, home):
        self.config = folder / f"config-{mode}"
        self.config.mkdir(parents=True, exist_ok=True)
        self.workers, self.mode, self.home = workers, mode, home
        self.algorithm("PredictedTTFT")
        self.port, self.admin = free_port(), free_port()
        run = folder / f"run-{mode}"
        super().__init__(
            f"gateway-{mode}",
            folder,
            [
                str(ROOT / "bin/warmpath"), "run", "--config", str(self.config), "--port", str(self.port),
                "--admin", f"127.0.0.1:{self.admin}", "--run-dir", str(run),
            ],
            dict(os.environ, WARMPATH_NO_BUILD="1"),
        )  # fmt: skip
        self.await_url(f"http://127.0.0.1:{self.admin}/readyz")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def algorithm(self, name):
        """Takes effect while the gateway runs; what it has learnt of the workers stays."""
        addresses = "\n".join(
            f"    - {{name: w{i}, address: 127.0.0.1, port: {w.port}}}" for i, w in enumerate(self.workers)
        )
        events = "" if self.mode == "approximate" else "\n  kvEvents: {mode: ZMQ}"
        tokenizer = f"\n  tokenizer: {{path: {self.home / 'model'}}}" if self.mode == "exact" else ""
        head = "apiVersion: inference.warmpath.dev/v1alpha1\nkind: {}\nmetadata: {{name: tiny}}\nspec:\n"
        text = "---\n".join(
            [
                head.format("InferenceWorkerSet")
                + f"  engine: vLLM\n  workers:\n    addresses:\n{addresses}{events}\n",
                head.format("InferencePool")
                + f"  model: {MODEL}\n  workerSets: [{{name: tiny}}]\n  routing: {{algorithm: {name}}}{tokenizer}\n",
                head.format("GatewayBackend") + f"  models: [{MODEL}]\n  pool: {{name: tiny}}\n",
            ]
        )
        draft = self.config.parent / "draft.yaml"
        draft.write_text(text)
        os.replace(draft, self.config / "gateway.yaml")

    def decision(self, decision_id):
        return json.loads(get(f"http://127.0.0.1:{self.admin}/decisions/{decision_id}"))

    def knowledge(self):
        return [w["cacheKnowledge"] for w in json.loads(get(f"http://127.0.0.1:{self.admin}/workers"))]

    def await_knowledge(self):
        wanted = self.mode.upper()
        end = time.time() + 120
        while time.time() < end:
            if all(level == wanted for level in self.knowledge()) and len(self.knowledge()) == len(self.workers):
                return
            time.sleep(0.5)
        raise RuntimeError(f"not {wanted}: " + get(f"http://127.0.0.1:{self.admin}/workers"))

    def metric(self, name):
        return sum(
            float(v) for v in re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", get(f"http://127.0.0.1:{self.admin}/metrics"), re.M)
        )
