"""The gateway on real vLLM workers: answers, routing, prediction, and what it knows of their caches.

usage: suite.py VLLM_HOME RESULT_FILE [--seeds N] [--only ROWS]

Run by bin/test --real-vllm. Prints a table, writes it to RESULT_FILE, and ends with 1 where a row fails.
"""

import argparse
import datetime
import http.client
import json
import os
import pathlib
import platform
import queue
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import answers
from gateway import BLOCK, MODEL, ROOT, Gateway, Worker

PREFIXES, PREFIX_TOKENS, REQUESTS, IN_FLIGHT = 9, 6000, 54, 3
WORDS = "stone river cloud garden window letter summer silver bridge market".split()


def text(tokens, seed):
    """About so many tokens that no other seed shares."""
    chance = random.Random(seed)
    return f"{seed} " + " ".join(chance.choice(WORDS) + str(chance.randrange(10)) for _ in range(tokens // 2))


class Client:
    """Streams chats over one connection and keeps what was seen of them."""

    def __init__(self, url):
        self.http = http.client.HTTPConnection(url.removeprefix("http://"), timeout=300)

    def chat(self, prompt, tokens=4):
        body = {
            "model": MODEL, "max_tokens": tokens, "stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": prompt}],
        }  # fmt: skip
        begin, first, usage = time.time(), None, None
        self.http.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
        answer = self.http.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {answer.read()[:300]}")
        while line := answer.readline():
            if line.startswith(b"data: {"):
                first = first or time.time() - begin
                event = json.loads(line[6:])
                if "error" in event:
                    raise RuntimeError(str(event))
                usage = event.get("usage") or usage
        return {
            "ttft": first,
            "prompt": usage["prompt_tokens"],
            "cached": (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
            "decision": answer.headers.get("x-warmpath-decision"),
        }


def run(url, prompts, in_flight):
    work, done, failed = queue.Queue(), [], []
    for prompt in prompts:
        work.put(prompt)

    def client():
        chats = Client(url)
        while True:
            try:
                prompt = work.get_nowait()
            except queue.Empty:
                return
            try:
                done.append(chats.chat(prompt))
            except Exception as error:  # noqa: BLE001 - counted and shown
                failed.append(str(error))

    begin = time.time()
    threads = [threading.Thread(target=client) for _ in range(in_flight)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(prompts)} requests failed, first: {failed[0]}")
    return done, time.time() - begin


def hit(results):
    return sum(r["cached"] for r in results) / sum(r["prompt"] for r in results)


class Suite:
    def __init__(self, home, folder, seeds):
        self.home, self.folder, self.seeds = home, folder, seeds
        self.rows, self.workers, self.gateways = [], [], []

    def row(self, name, shown, passed):
        self.rows.append((name, shown, passed))
        print(f"{'ok    ' if passed else 'FAILED'} {name}: {shown}", flush=True)

    def gateway(self, mode, workers=None):
        gateway = Gateway(self.folder, workers or self.workers, mode, self.home)
        self.gateways.append(gateway)
        return gateway

    def start_workers(self):
        self.workers = [Worker(f"worker-{i}", self.folder, self.home) for i in range(3)]
        [worker.ready() for worker in self.workers]

    def stop(self):
        [process.stop() for process in self.gateways + self.workers]

    def conformance(self):
        java = pathlib.Path(os.environ["JAVA_HOME"], "bin/java")
        classes = ROOT / "cli/target/dist/lib"
        checked = subprocess.run(
            [java, "-cp", f"{classes}/*", "dev.warmpath.simulator.conformance.Conformance", self.workers[0].url, MODEL],
            capture_output=True, text=True,
        )  # fmt: skip
        lines = checked.stdout.strip().splitlines() or [checked.stderr.strip()[-300:]]
        self.row("conformance list on the real server", "; ".join(lines), checked.returncode == 0)

    def answers(self):
        """Row 1: one worker, so that both ways meet the same engine."""
        worker = self.workers[0]
        gateway = self.gateway("approximate", [worker])
        direct = answers.ask(worker.url)
        names = {"input": "prompt_tokens_total", "cached": "prompt_tokens_cached_total", "output": "generation_tokens_total"}
        before = {key: worker.counter(name) for key, name in names.items()}
        through = answers.ask(gateway.url)
        after = {key: worker.counter(name) for key, name in names.items()}
        different = [name for name in direct if direct[name] != through.get(name)]
        self.row(
            "1 answers of the SDKs equal those of the worker itself",
            f"{len(direct) - len(different)} of {len(direct)} equal" + (f", not: {different}" if different else ""),
            not different,
        )
        ledger = {"input": "input", "cached": "cache_read_input", "output": "output"}
        differences = []
        for key, name in ledger.items():
            wanted = after[key] - before[key]
            seen = None
            for _ in range(40):
                seen = gateway.metric(f"gen_ai_client_inference_usage_{name}_tokens_total")
                if seen == wanted:
                    break
                time.sleep(0.25)
            differences.append(f"{key} {seen:.0f}/{wanted:.0f}")
            if seen != wanted:
                differences[-1] += " differ"
        self.row("1 ledger/worker's counters", ", ".join(differences), "differ" not in " ".join(differences))
        gateway.stop()

    def routing(self):
        """Row 2, and row 3 from the same decisions."""
        gateway = self.gateway("approximate")
        measured = {"RoundRobin": [], "PredictedTTFT": []}
        for seed in range(self.seeds):
            order = list(measured) if seed % 2 == 0 else list(measured)[::-1]
            for algorithm in order:
                gateway.algorithm(algorithm)
                time.sleep(3)
                chance = random.Random(7 + seed)
                salt = f"{time.time()}-{algorithm}"
                prompts = [
                    text(PREFIX_TOKENS, f"{salt}-{chance.randrange(PREFIXES)}") + f" question {i}" for i in range(REQUESTS)
                ]
                results, wall = run(gateway.url, prompts, IN_FLIGHT)
                p50 = statistics.median(r["ttft"] for r in results)
                measured[algorithm].append((hit(results), p50, wall))
                print(f"       seed {seed} {algorithm:13} hit {hit(results):.3f} ttft p50 {p50:.3f} s wall {wall:.1f} s", flush=True)
        mean = {name: [statistics.mean(column) for column in zip(*runs)] for name, runs in measured.items()}
        ours, other = mean["PredictedTTFT"], mean["RoundRobin"]
        shown = (
            f"hit {ours[0]:.3f} / {other[0]:.3f}, TTFT p50 {ours[1]:.3f} / {other[1]:.3f} s, "
            f"wall {ours[2]:.1f} / {other[2]:.1f} s, {self.seeds} seeds"
        )
        self.row("2 hit rate >= 0.82, TTFT p50 <= 1/3 of round robin", shown, ours[0] >= 0.82 and ours[1] <= other[1] / 3)
        self.prediction(gateway)
        gateway.stop()

    def prediction(self, gateway):
        gateway.algorithm("PredictedTTFT")
        chance = random.Random(3)
        lengths = [chance.choice((500, 1000, 2000, 4000, 8000, 12000)) for _ in range(30)]
        run(gateway.url, [text(n, f"train-{time.time()}-{i}") for i, n in enumerate(lengths)], 1)
        results, _ = run(gateway.url, [text(n, f"test-{time.time()}-{i}") for i, n in enumerate(lengths)], 1)
        errors = []
        for result in results:
            record = gateway.decision(result["decision"])
            if record["actualTtftSeconds"]:
                errors.append(abs(record["actualTtftSeconds"] - record["predictedTtftSeconds"]) / record["actualTtftSeconds"])
        median = statistics.median(errors)
        work, actual = {}, {}
        client = Client(gateway.url)
        for tokens in (4000, 8000, 16000):
            result = client.chat(text(tokens, f"cold-{time.time()}"))
            record = gateway.decision(result["decision"])
            work[tokens] = next(c["workSeconds"] for c in record["candidates"] if c["rank"] == 1) / result["prompt"]
            actual[tokens] = result["ttft"]
        bend = work[16000] / work[4000]
        self.row(
            "3 prediction after 50 requests",
            f"median absolute error {median:.1%} of {len(errors)} (goal 20 % on a quiet machine)",
            median <= 0.5,
        )
        self.row(
            "3 quadratic term learnt",
            f"predicted seconds for a token at 16k are {bend:.2f} times those at 4k; measured first tokens "
            + ", ".join(f"{tokens // 1000}k {seconds:.2f} s" for tokens, seconds in actual.items()),
            bend > 1.1,
        )

    def knowledge(self):
        """Row 4: expected cached tokens against what the engine reports."""
        for mode in ("approximate", "assisted", "exact"):
            gateway = self.gateway(mode)
            gateway.await_knowledge()
            for name, prefixes, requests in (("at ease", 6, 30), ("under eviction pressure", 45, 80)):
                self.compare(gateway, f"{mode}, {name}", prefixes, requests)
            self.workers[2].restart()
            time.sleep(8)
            gateway.await_knowledge()
            self.compare(gateway, f"{mode}, after a restart of a worker", 6, 30)
            gateway.stop()

    def compare(self, gateway, name, prefixes, requests):
        chance = random.Random(5)
        salt = time.time()
        prompts = [
            text(PREFIX_TOKENS, f"{salt}-{min(chance.randrange(prefixes), chance.randrange(prefixes))}") + f" question {i}"
            for i in range(requests)
        ]
        results, _ = run(gateway.url, prompts, 2)
        off = []
        for result in results:
            record = gateway.decision(result["decision"])
            expected = next(c["cachedTokens"] for c in record["candidates"] if c["rank"] == 1)
            off.append(abs(expected - result["cached"]))
        within = sum(difference <= BLOCK for difference in off) / len(off)
        shown = f"{within:.1%} within a block, mean error {statistics.mean(off):.0f} tokens, {requests} requests, hit rate {hit(results):.2f}"
        self.row(f"4 index against truth: {name}", shown, within >= 0.95 or gateway.mode != "exact")

    def table(self):
        lines = [
            f"# The gateway on real vLLM, {datetime.date.today()}",
            "",
            f"`bin/test --real-vllm`: three workers of vLLM for the processor with a tiny random model, {os.cpu_count()} cores, "
            f"{platform.machine()}, load {os.getloadavg()[0]:.1f} at the end. Times move by half between sessions; hit rates do not.",
            "",
            "| | shown | |",
            "| --- | --- | --- |",
        ]
        return "\n".join(lines + [f"| {n} | {s} | {'ok' if p else '**failed**'} |" for n, s, p in self.rows]) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("home", type=pathlib.Path)
    options.add_argument("result", type=pathlib.Path)
    options.add_argument("--seeds", type=int, default=4)
    options.add_argument("--only", default="conformance,answers,routing,knowledge")
    given = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wpv"))
    suite = Suite(given.home, folder, given.seeds)
    broken = False
    try:
        suite.start_workers()
        for part in given.only.split(","):
            try:
                getattr(suite, part)()
            except Exception as error:  # noqa: BLE001 - the other rows still say something
                broken = True
                suite.row(part, f"ended early: {error}", False)
    finally:
        suite.stop()
    given.result.parent.mkdir(parents=True, exist_ok=True)
    given.result.write_text(suite.table())
    print(suite.table())
    if broken or not all(passed for _, _, passed in suite.rows):
        print(f"Logs of all processes are in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
