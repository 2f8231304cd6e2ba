"""packaging/kafka-quickstart.sh as a newcomer runs it: with a broker of its own, and against one that is there."""
import os
import subprocess

from harness import processes
from weirtest.report import Failure
from weirtest.weir import BUILD, ROOT

SCRIPT = os.path.join(ROOT, "packaging", "kafka-quickstart.sh")
TOPICS = {"weir-demo-events": 4, "weir-demo-counts": 2, "weir-demo-late": 1}


def run(*args, **env):
    done = subprocess.run([SCRIPT, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=600, env={**os.environ, "WEIR": os.path.join(BUILD, "fault", "weir"), **env})
    return done.returncode, done.stdout


def require_story(code, out):
    if code or "verdict  exact" not in out or "each window is there once" not in out:
        raise Failure(f"the quick start ended with {code}", out)


def its_own_broker():
    ports = processes.free_ports(2)
    require_story(*run(WEIR_BROKER_PORTS=" ".join(map(str, ports))))


def topics_that_are_missing_are_told_then_it_runs(cluster):
    code, out = run(cluster.bootstrap)
    if code != 1 or any(f"--create --topic {name} --partitions {n}" not in out for name, n in TOPICS.items()):
        raise Failure(f"{code}: the topics to make are not told", out)
    for topic, partitions in TOPICS.items():
        cluster.tool.create_topic(topic=topic, partitions=partitions)
    require_story(*run(cluster.bootstrap))


ALONE = [its_own_broker]
BESIDE = [topics_that_are_missing_are_told_then_it_runs]
