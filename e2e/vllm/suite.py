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

PREFIXES, PREFIX_TOKENS, REQUESTS, IN_FLIGHT, ROUNDS = 9, 6000, 54, 3, 5
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

    def goal(self, name, shown, reached):
        """A row about time, which other work on the machine can spoil: it says so, and fails all the same."""
        load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        self.row(name, f"{shown} ({load})" if reached else f"{shown}; goal missed ({load})", reached)

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
        self.goal("2 hit rate >= 0.82, TTFT p50 <= 1/3 of round robin", shown, ours[0] >= 0.82 and ours[1] <= other[1] / 3)
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
        self.goal("3 prediction after 50 requests, median error <= 20 %", f"{median:.1%} of {len(errors)}", median <= 0.2)
        per_token, seconds = {}, {}
        client = Client(gateway.url)
        for tokens in (4000, 16000):
            predicted, measured = [], []
            for i in range(3):
                result = client.chat(text(tokens, f"cold-{time.time()}-{i}"))
                record = gateway.decision(result["decision"])
                predicted.append(next(c["workSeconds"] for c in record["candidates"] if c["rank"] == 1) / result["prompt"])
                measured.append(result["ttft"] / result["prompt"])
            per_token[tokens] = statistics.median(predicted), statistics.median(measured)
            seconds[tokens] = per_token[tokens][1] * tokens
        bend, truth = (per_token[16000][i] / per_token[4000][i] for i in (0, 1))
        self.goal(
            "3 quadratic term: a token at 16k against one at 4k, more than half of what it really costs more",
            f"predicted {bend:.2f} times, measured {truth:.2f} times; measured first tokens "
            + ", ".join(f"{tokens // 1000}k {s:.2f} s" for tokens, s in seconds.items()),
            bend > max(1.1, (1 + truth) / 2),
        )

    def knowledge(self):
        """Row 4: expected cached tokens against what the engine reports; the goal is for exact knowledge."""
        for mode in ("approximate", "assisted", "exact"):
            gateway = self.gateway(mode)
            gateway.await_knowledge()
            rounds = {"exact": (ROUNDS, 2, 2)}.get(mode, (1, 1, 1))
            self.compare(gateway, f"{mode}, at ease", 6, 30, rounds[0])
            self.compare(gateway, f"{mode}, under eviction pressure", 45, 80, rounds[1])
            restarted = []
            for seed in range(rounds[2]):
                self.workers[2 - seed].restart()
                time.sleep(8)
                gateway.await_knowledge()
                restarted += self.differences(gateway, seed, 6, 30)
            self.within(gateway, f"{mode}, after a restart of a worker", restarted)
            gateway.stop()

    def compare(self, gateway, name, prefixes, requests, rounds):
        self.within(gateway, name, [one for seed in range(rounds) for one in self.differences(gateway, seed, prefixes, requests)])

    def differences(self, gateway, seed, prefixes, requests):
        """(expected - reported cached tokens, reported, prompt tokens) of each request; says more of each miss."""
        chance = random.Random(5 + seed)
        salt = time.time()
        prompts = [
            text(PREFIX_TOKENS, f"{salt}-{min(chance.randrange(prefixes), chance.randrange(prefixes))}") + f" question {i}"
            for i in range(requests)
        ]
        results, _ = run(gateway.url, prompts, 2)
        seen = []
        for result in results:
            record = gateway.decision(result["decision"])
            chosen = next(c for c in record["candidates"] if c["rank"] == 1)
            off = chosen["cachedTokens"] - result["cached"]
            seen.append((off, result["cached"], result["prompt"]))
            if abs(off) > BLOCK and gateway.mode == "exact":
                print(
                    f"       seed {seed}: {chosen['worker']} was expected to hold {chosen['cachedTokens']}, had {result['cached']} of "
                    f"{result['prompt']}; {chosen['inFlight']} in flight, attempts {[a['worker'] for a in record['attempts']]}, at {record['at']}",
                    flush=True,
                )
        return seen

    def within(self, gateway, name, seen):
        off = [abs(difference) for difference, _, _ in seen]
        within = sum(difference <= BLOCK for difference in off) / len(off)
        rate = sum(cached for _, cached, _ in seen) / sum(prompt for _, _, prompt in seen)
        shown = f"{within:.1%} within a block, mean error {statistics.mean(off):.0f} tokens, {len(off)} requests, hit rate {rate:.2f}"
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
