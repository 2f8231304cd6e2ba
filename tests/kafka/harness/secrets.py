"""Who may log in to the test brokers, with what; certificates for them; and the search for secrets that leaked."""
import base64
import glob
import json
import os
import subprocess
import time

from weirtest.report import Failure

PASSWORDS = {
    "alice": "alice-pw-5be1f0c2",  # SCRAM-SHA-256 and -512
    "bob": "bob-pw-93d7aa10",  # PLAIN
    "dave": "dave-pw-c41e77b9",  # SCRAM, and no rights at all
    "mallory": "mallory-pw-0f6d2e88",  # nobody knows them
    "erin": "erin-pw-3a90c5d7",  # SCRAM, made by the test that changes it
    "erin's next": "erin-pw-next-b27f60e4",
    "erin's wrong": "erin-pw-wrong-58d1c93f",
}
OAUTH_SUBJECT = "carol"


def scram_users():
    return [f"SCRAM-SHA-{bits}=[name={name},password={PASSWORDS[name]}]"
            for name in ("alice", "dave") for bits in (256, 512)]


def _openssl(*args):
    done = subprocess.run(["openssl", *args], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"openssl {args[0]} failed: {done.stderr[-500:]}")


def _key(path):
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)


def _authority(directory, name):
    key, cert = os.path.join(directory, name + ".key"), os.path.join(directory, name + ".pem")
    _key(key)
    _openssl("req", "-x509", "-new", "-key", key, "-out", cert, "-days", "30", "-subj", f"/CN=weir test {name}")


def _signed(directory, name, subject, names=""):
    path = os.path.join(directory, name)
    _key(path + ".key")
    _openssl("req", "-new", "-key", path + ".key", "-out", path + ".csr", "-subj", subject)
    with open(path + ".ext", "w", encoding="utf-8") as f:
        f.write(f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n")
    _openssl("x509", "-req", "-in", path + ".csr", "-CA", os.path.join(directory, "ca.pem"), "-CAkey",
             os.path.join(directory, "ca.key"), "-CAcreateserial", "-days", "30", "-extfile", path + ".ext",
             "-out", path + ".crt")


def make_certificates(directory):
    """ca.pem, other-ca.pem (signed nothing), server.pem (key and chain), client.crt and client.key (CN=weir-client)."""
    os.makedirs(directory, exist_ok=True)
    _authority(directory, "ca")
    _authority(directory, "other-ca")
    _signed(directory, "server", "/CN=localhost", "DNS:localhost,IP:127.0.0.1")
    _signed(directory, "client", "/CN=weir-client")
    with open(os.path.join(directory, "server.pem"), "w", encoding="utf-8") as out:
        for name in ("server.key", "server.crt", "ca.pem"):
            with open(os.path.join(directory, name), encoding="utf-8") as f:
                out.write(f.read())


def oauth_token(subject=OAUTH_SUBJECT, seconds=3600):
    """An unsigned JWS, which the test brokers take."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': subject, 'iat': now, 'exp': now + seconds})}."


def leaks(directory, allowed=(), texts=()):
    """Where one of the passwords stands in clear or as base64: files under `directory` (but `allowed`), and `texts`."""
    needles = {p.encode(): who for who, p in PASSWORDS.items()}
    needles.update({base64.b64encode(p.encode()).rstrip(b"="): who for who, p in PASSWORDS.items()})
    found = []
    skip = {os.path.realpath(p) for p in allowed}
    for path in glob.glob(os.path.join(directory, "**"), recursive=True, include_hidden=True):
        if os.path.isfile(path) and os.path.realpath(path) not in skip:
            with open(path, "rb") as f:
                data = f.read()
            found += [f"{who}'s password in {path}" for needle, who in needles.items() if needle in data]
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode()
        found += [f"{who}'s password in output" for needle, who in needles.items() if needle in data]
    return found
