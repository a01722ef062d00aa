#!/usr/bin/env python3
"""Adds up every Surefire report of the tree and says what failed; the last line is `N passed, N failed`."""

import argparse
import glob
import sys
import xml.etree.ElementTree as ElementTree


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--maven-exit", type=int, required=True)
    parser.add_argument("--asked", default="", help="the options that chose tests, as they were written")
    options = parser.parse_args()

    passed, failed, skipped, unstable = 0, [], [], []
    slowest = []
    for report in sorted(glob.glob("*/target/surefire-reports/TEST-*.xml")):
        module = report.split("/", 1)[0]
        suite = ElementTree.parse(report).getroot()
        slowest.append((float(suite.get("time", "0").replace(",", "")), module, suite.get("name", "?").rsplit(".", 1)[-1]))
        for case in suite.iter("testcase"):
            name = f"{module}: {case.get('classname', '?').rsplit('.', 1)[-1]}.{case.get('name') or '(set-up)'}"
            problem = case.find("failure")
            if problem is None:
                problem = case.find("error")
            if problem is not None:
                reason = (problem.get("message") or problem.text or "").strip().splitlines()
                failed.append((name, reason[0][:200] if reason else ""))
            elif case.find("skipped") is not None:
                skipped.append((name, case.find("skipped").get("message") or "no reason given"))
            else:
                passed += 1
                first = case.find("flakyFailure")
                if first is None:
                    first = case.find("flakyError")
                if first is not None:
                    reason = (first.get("message") or first.text or "").strip().splitlines()
                    unstable.append((name, reason[0][:200] if reason else ""))

    if options.maven_exit != 0:
        failed.append(("build", "Maven stopped; see target/test.log"))
    elif not (passed or failed or skipped):
        failed.append(("tests", f"nothing matched {options.asked}" if options.asked else "there was none to run"))

    for seconds, module, name in sorted(slowest, reverse=True)[:8]:
        if seconds >= 5:
            print(f"   {seconds:6.1f} s  {module}: {name}")
    for name, reason in skipped:
        print(f"SKIPPED {name}: {reason}")
    for name, reason in unstable:
        print(f"UNSTABLE {name}: passed when tried again; first: {reason}")
    for name, reason in failed:
        print(f"FAILED  {name}: {reason}")
    print(f"{options.seconds // 60} min {options.seconds % 60} s")
    tail = f", {len(skipped)} skipped" if skipped else ""
    print(f"{passed} passed, {len(failed)} failed{tail}")
    return 0 if passed > 0 and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
