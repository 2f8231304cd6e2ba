"""Security: each way in, each way to be kept out, with the reason in one clear message; and no secret anywhere."""
import os
import re
import shutil
import signal

from boxes import FOLLOW, PATIENCE, THROUGH_KAFKA, Box, GroupReceipts
from harness import processes, secrets
from weirtest.report import Failure

# listener, mechanism, user
WAYS = [("SASL_PLAINTEXT", "SCRAM-SHA-256", "alice"), ("SASL_SSL", "SCRAM-SHA-512", "alice"),
        ("SASL_SSL", "PLAIN", "bob"), ("SASL_SSL", "OAUTHBEARER", secrets.OAUTH_SUBJECT), ("SSL", None, "CN=weir-client")]


def options(cluster, listener, mechanism=None, user=None, authority="ca.pem"):
    lines = {"properties.security.protocol": listener}
    if "SSL" in listener:
        lines["properties.ssl.ca.location"] = os.path.join(cluster.certificates, authority)
    if listener == "SSL" and user:
        lines["properties.ssl.certificate.location"] = os.path.join(cluster.certificates, "client.crt")
        lines["properties.ssl.key.location"] = os.path.join(cluster.certificates, "client.key")
    if mechanism:
        lines["properties.sasl.mechanism"] = mechanism
    if mechanism == "OAUTHBEARER":
        lines["weir.oauthbearer.token-file"] = "token"
    elif mechanism:
        lines["properties.sasl.username"] = user
        lines["properties.sasl.password"] = "${file:password}"
    return "".join(f",\n        '{key}' = '{value}'" for key, value in lines.items())


def box_for(cluster, name, listener, mechanism=None, user=None, password=None, follow="", at=None, **more):
    box = Box(cluster, name, sink=options(cluster, listener, mechanism, user, **more), follow=follow,
              address=cluster.address(at or listener))
    box.write("password", (password or secrets.PASSWORDS.get(user, "none")) + "\n")
    box.write("token", secrets.oauth_token())
    box.put(20)
    return box


def grant(cluster, box, user, but=()):
    """What docs/kafka.md says is needed."""
    rights = [("TRANSACTIONAL_ID", box.txid, ["WRITE", "DESCRIBE"]),
              ("TOPIC", box.topics["out"], ["WRITE", "DESCRIBE", "READ", "DESCRIBE_CONFIGS"])]
    if not box.receipts_topic:
        rights.append(("GROUP", box.txid + "-receipt", ["READ", "DESCRIBE"]))
    rights = [right for right in rights if right[0] not in but]
    if box.receipts_topic:
        rights.append(("TOPIC", box.receipts_topic, ["WRITE", "DESCRIBE", "READ"]))
    for resource, name, operations in rights:
        cluster.tool.acl_add(principal="User:" + user, resource=resource, name=name, operations=operations)


def connect_check(box):
    return box("check", box.pipeline, "--connect", "--config", "weir.toml", timeout=PATIENCE)


def way_in(listener, mechanism, user, connect=False):
    name = f"{'connect' if connect else 'in'}-{listener}-{mechanism or 'certificate'}".lower().replace("_", "-")

    def check(cluster):
        box = box_for(cluster, name, listener, mechanism, user)
        grant(cluster, box, user)
        if connect:
            # A broker may not have heard of a right that another one has taken.
            processes.until("the check finds nothing wrong", lambda: connect_check(box).code == 0, 30, 0.5, box.log)
        else:
            box(*box.args, want=0, timeout=PATIENCE)
            exact_without_proxy(box)
    check.__name__ = name.replace("-", "_")
    return check


def exact_without_proxy(box):
    """TLS passes the proxy as bytes, so who sent what is not asked here."""
    box.require_one_producer_each = lambda: None
    check = box.require_no_secret
    box.require_no_secret = lambda: check(allowed=["password", "token"])
    box.require_exact()


def says(status, words):
    """Not healthy, and all the words (patterns) are in one reason."""
    said = [target.get("reason") or "" for target in status["targets"]] + status["reasons"]
    return status["health"] != "healthy" and any(all(re.search(word, text) for word in words) for text in said)


def kept_out(what, words, listener, mechanism=None, user=None, granted=None, missing_topic=False, connect=False,
             **more):
    """`weir check --connect` says why, all the words in one line; a run waits with the same reason and does not end."""
    name = ("connect-" if connect else "out-") + what

    def check(cluster):
        box = box_for(cluster, name, listener, mechanism, user, **more)
        if granted is not None:
            grant(cluster, box, user, but=granted)
        if missing_topic:
            cluster.tool.delete_topic(topic=box.topics["out"])
        if connect:
            if missing_topic:  # it is gone from one broker after the other
                processes.until("the check refuses", lambda: connect_check(box).code == 78, 30, 0.5, box.log)
            life = connect_check(box)
            lines = (life.err + life.out.decode()).splitlines()
            if life.code != 78 or not any(all(re.search(word, line) for word in words) for line in lines):
                raise Failure(f"exit {life.code}, and no line with {words} in: {life.err[-600:]}", box.log())
        else:
            with box.go() as process:
                box.wait_status(f"degraded, with the reason ({words})", lambda s: says(s, words), process)
                box.stop(process, 75)  # the bounded input has not ended
        box.require_no_secret(allowed=["password", "token"])
    check.__name__ = name.replace("-", "_")
    return check


def taken(resource, operation, words):
    """An ACL is removed while it delivers: no exit, no loss, and the status says whose right on what is missing; given
    back, it drains."""
    def check(cluster):
        box = box_for(cluster, "taken-" + resource.lower().replace("_", "-"), *SASL_PLAIN, "alice", follow=FOLLOW)
        named = {"TRANSACTIONAL_ID": box.txid, "TOPIC": box.topics["out"], "GROUP": box.txid + "-receipt"}[resource]
        grant(cluster, box, "alice")
        with box.go() as process:
            box.wait_delivered(process=process)
            cluster.tool.acl_delete(principal="User:alice", resource=resource, name=named, operation=operation)
            box.put(20)
            wanted = [*words, named, "user alice", "ACL"]
            status = box.wait_status(f"degraded, with {wanted}", lambda s: says(s, wanted), process)
            if "urged" in str(status["targets"]):
                raise Failure("what the library did because of it is shown beside it", str(status["targets"]))
            grant(cluster, box, "alice")
            box.wait_delivered(process=process)
            box.stop(process)
        exact_without_proxy(box)
    check.__name__ = f"taken_{resource.lower()}_{operation.lower()}"
    return check


def a_changed_password_is_read_again(cluster):
    """The password changes on the brokers and in the file. Until SIGHUP, with a wrong one and with none, there is one
    clear reason and no end; then source and sink go on where they stood, with nothing lost and nothing twice."""
    def password(name):
        return secrets.PASSWORDS[name]
    sasl = options(cluster, *SASL_PLAIN, "erin")
    cluster.tool.scram_set(user="erin", password=password("erin"), bits=512)
    box = Box(cluster, "renewed", sql=THROUGH_KAFKA, topics=("in", "out"), follow=sasl, sink=sasl,
              address=cluster.address("SASL_PLAINTEXT"))
    box.write("password", password("erin") + "\n")
    grant(cluster, box, "erin")
    cluster.tool.acl_add(principal="User:erin", resource="TOPIC", name=box.topics["in"], operations=["READ", "DESCRIBE"])
    box.produce(20)
    with box.go() as process:
        box.wait_delivered(process=process)
        cluster.tool.scram_set(user="erin", password=password("erin's next"), bits=512)

        def refused(status):
            # Connections that stand stay: a delivery after the next one needs new ones.
            box.produce(1)
            return says(status, ["uthentication"])
        box.wait_status("the old password is refused", refused, process)
        os.rename(box.path("password"), box.path("away"))
        process.signal(signal.SIGHUP)
        box.wait_status("there is none", lambda s: says(s, ["sasl.password", re.escape("${file:password}")]), process)
        box.write("password", password("erin's wrong") + "\n")
        process.signal(signal.SIGHUP)
        box.wait_status("a wrong one is refused",
                        lambda s: says(s, ["uthentication"]) and not says(s, ["sasl.password"]), process)
        box.write("password", password("erin's next") + "\n")
        process.signal(signal.SIGHUP)
        box.wait_delivered(process=process)
        box.produce(20)
        box.wait_delivered(process=process)
        box.wait_status("healthy", lambda s: s["health"] == "healthy", process)
        box.stop(process)
        if "event=secrets_renewed source=src" not in process.err():
            raise Failure("the source's client was not made anew", process.err())
    os.remove(box.path("away"))
    exact_without_proxy(box)


def changed_certificates_are_read_again(cluster):
    """The file of the authorities becomes another one; after SIGHUP source and sink hold the brokers against it, and after
    the next one against the right one again. The client's own certificate and key go the same way, by their files."""
    own = [f",\n        'properties.ssl.{what}.location' = '{file}'" for what, file in
           (("ca", "ca"), ("certificate", "crt"), ("key", "key"))]
    tls = ", 'properties.security.protocol' = 'SSL'" + "".join(own)
    box = Box(cluster, "certificates", sql=THROUGH_KAFKA, topics=("in", "out"), follow=tls, sink=tls,
              address=cluster.address("SSL"))

    def use(file, name):
        shutil.copyfile(os.path.join(cluster.certificates, name), box.path(file))
    for file, name in (("ca", "ca.pem"), ("crt", "client.crt"), ("key", "client.key")):
        use(file, name)
    grant(cluster, box, "CN=weir-client")
    cluster.tool.acl_add(principal="User:CN=weir-client", resource="TOPIC", name=box.topics["in"],
                         operations=["READ", "DESCRIBE"])
    box.produce(20)
    with box.go() as process:
        box.wait_delivered(process=process)
        for file, wrong, right in (("ca", "other-ca.pem", "ca.pem"), ("key", "server.key", "client.key")):
            use(file, wrong)
            process.signal(signal.SIGHUP)
            box.wait_status(f"a wrong {file} is named", lambda s: says(s, ["certificate|key"]), process)
            use(file, right)
            process.signal(signal.SIGHUP)
            box.produce(20)
            box.wait_delivered(process=process)
            box.wait_status("healthy", lambda s: s["health"] == "healthy", process)
        box.stop(process)
    exact_without_proxy(box)


SASL = ("SASL_SSL", "SCRAM-SHA-512")
SASL_PLAIN = ("SASL_PLAINTEXT", "SCRAM-SHA-512")
OUT = [
    (("wrong-password", ["uthentication"], *SASL, "alice"), {"password": secrets.PASSWORDS["mallory"]}),
    (("unknown-user", ["uthentication"], "SASL_SSL", "PLAIN", "mallory"), {}),
    (("wrong-authority", ["certificate"], *SASL, "alice"), {"authority": "other-ca.pem"}),
    (("no-certificate", ["alert bad certificate|ask for a client certificate"], "SSL"), {}),
    (("no-topic", ["topic [a-z-]*no-topic-out", "does not exist|Unknown topic"], *SASL_PLAIN, "alice"), {"granted": (), "missing_topic": True}),
    (("no-right-to-write", ["Topic authorization failed", "user dave", "ACL"], *SASL_PLAIN, "dave"),
     {"granted": ("TOPIC",)}),
    (("no-right-to-the-id", ["TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "user dave", "ACL"], *SASL_PLAIN, "dave"),
     {"granted": ("TRANSACTIONAL_ID",)}),
    (("no-right-to-the-group", ["GROUP_AUTHORIZATION_FAILED", "user dave", "ACL"], *SASL_PLAIN, "dave"),
     {"granted": ("GROUP",)}),
    (("tls-to-plain", ["SSL handshake failed|speak no TLS"], *SASL, "alice"), {"at": "SASL_PLAINTEXT"}),
    (("plain-to-tls", ["closed by peer"], *SASL_PLAIN, "alice"), {"at": "SASL_SSL"}),
]
TAKEN = [taken("TOPIC", "WRITE", ["TOPIC_AUTHORIZATION_FAILED"]),
         taken("TRANSACTIONAL_ID", "WRITE", ["TRANSACTIONAL_ID_AUTHORIZATION_FAILED"]),
         taken("GROUP", "READ", ["GROUP_AUTHORIZATION_FAILED"])]


def a_check_fences_nobody(cluster):
    """The check asks for the transactional id, and neither a running weir nor the coordinator notices."""
    box = Box(cluster, "connect-beside")
    box.put(20)
    with box.go() as process:
        box.wait_delivered(process=process)
        before = cluster.tool.transaction(transactional_id=box.txid)
        for _ in range(3):
            life = connect_check(box)
            if life.code != 0:
                raise Failure(f"the check ends with {life.code}: {life.err[-600:]}", box.log())
        after = cluster.tool.transaction(transactional_id=box.txid)
        if (after["pid"], after["epoch"]) != (before["pid"], before["epoch"]):
            raise Failure(f"the producer of the name was {before}, and after the checks {after}", box.log())
        box.put(20)
        box.wait_delivered(process=process)
        box.stop(process)
    box.require_exact("beside checks")


def old_brokers_are_told(cluster):
    """Before Kafka 4.0 a group may lose a receipt: the check says so, and nothing is delivered."""
    box = Box(GroupReceipts(cluster), "old-brokers")
    box.put(20)
    wanted = ["older than Kafka 4.0", re.escape("'weir.receipt' = 'topic:NAME'")]
    life = connect_check(box)
    if life.code != 78 or not all(re.search(word, life.err) for word in wanted):
        raise Failure(f"exit {life.code}, and not {wanted} in: {life.err[-600:]}", box.log())
    with box.go() as process:
        box.wait_status("degraded, with the reason", lambda s: says(s, wanted), process)
        if box.delivered():
            raise Failure("delivered to brokers that may lose its receipt", process.err())
        box.killed(process)


OLD = [old_brokers_are_told]
RENEWED = [a_changed_password_is_read_again, changed_certificates_are_read_again]
IN = [way_in(*way) for way in WAYS]
KEPT_OUT = [kept_out(*out, **more) for out, more in OUT]
CONNECT = [a_check_fences_nobody] + [way_in(*way, connect=True) for way in WAYS] + [kept_out(*out, connect=True, **more) for out, more in OUT]
