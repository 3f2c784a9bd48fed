#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An S3 store in memory for tests: it can be told to have any fault.

Not a store for anything else. Checks each signature with botocore where that is
installed (tests/peers). Prints "ready PORT", then one line per request on
standard error: METHOD PATH STATUS [signature ok|signature BAD].

Faults:
  ignore-match       If-Match is not looked at
  ignore-none-match  If-None-Match is not looked at
  missing-is-match   If-Match holds where there is no object
  judge-early        conditions are judged before the bytes have come
  two-steps          conditions are judged, and a moment later it is written
  drop-meta          metadata is not kept
  no-etag            no ETag is told
  not-implemented    conditions are answered with 501
  no-bucket          nothing can be written: there is no such bucket
Accidents of the nth PUT (n counts from 1, all: each one), as fail-put=N:HOW:
  drop-after  written, and the connection closed without an answer
  drop-before not written, and the connection closed
  500-after   written, and answered with 500
  500         not written, and answered with 500
  503         the same with 503
  409         not written, and answered with 409
  stall       the bytes are not read, for ever
  cut-get     (of GETs) half of the bytes, and the connection closed
Others:
  redirect=URL  every request is answered with 307 to URL
  delay=MS      so long before every answer
  tls=FILE      a certificate and its key
"""
import hashlib
import http.server
import socketserver
import ssl
import sys
import threading
import time
from email.utils import formatdate

try:
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
except ImportError:
    AWSRequest = None

KEYS = {"stubkey": "stubsecret"}
options = dict(
    (word.split("=", 1) + [""])[:2] for word in sys.argv[1:]
)
objects = {}
lock = threading.Lock()
puts = 0


class Signer(S3SigV4Auth if AWSRequest else object):
    """botocore's, with the moment and the payload of the request at hand."""

    def payload(self, request):
        return request.headers["X-Amz-Content-SHA256"]


def signature_is_right(handler):
    """None: nothing to compare with."""
    given = handler.headers.get("authorization", "")
    if not AWSRequest:
        return None
    try:
        parts = dict(
            p.strip().split("=", 1) for p in given.split(" ", 1)[1].split(",")
        )
        key, date, region, service, _ = parts["Credential"].split("/")
        secret = KEYS[key]
    except (IndexError, KeyError, ValueError):
        return False
    scheme = "https" if "tls" in options else "http"
    request = AWSRequest(
        method=handler.command,
        url=f"{scheme}://{handler.headers['host']}{handler.path}",
    )
    signed = parts["SignedHeaders"].split(";")
    # Nothing that changes what is done may stand outside the signature.
    for name in handler.headers:
        low = name.lower()
        if low not in signed and (low.startswith(("x-amz", "if-", "content-type"))
                                  or low in ("cache-control", "host")):
            return False
    for name in signed:
        if name != "host":
            request.headers[name] = handler.headers[name]
    request.context["timestamp"] = handler.headers["x-amz-date"]
    signer = Signer(
        Credentials(key, secret, handler.headers.get("x-amz-security-token")),
        service, region)
    names = signer.headers_to_sign(request)
    canonical = signer.canonical_request(request)
    if sorted(k.lower() for k in names.keys()) != signed:
        return False
    to_sign = signer.string_to_sign(request, canonical)
    return signer.signature(to_sign, request) == parts["Signature"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "stub"

    def log_message(self, *_):
        pass

    def note(self, status, verdict):
        word = {None: "", True: " signature ok", False: " signature BAD"}[verdict]
        print(f"{self.command} {self.path} {status}{word}", file=sys.stderr,
              flush=True)

    def answer(self, status, headers=(), body=b"", code=None):
        verdict = self.verdict
        self.note(status, verdict)
        if code:
            body = (f"<?xml version='1.0'?><Error><Code>{code}</Code>"
                    f"<Message>so it is</Message></Error>").encode()
        if "delay" in options:
            time.sleep(int(options["delay"]) / 1000)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if self.command == "HEAD":
            if not any(n == "Content-Length" for n, _ in headers):
                self.send_header("Content-Length", "0")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def hang_up(self, word):
        self.note(word, self.verdict)
        self.close_connection = True
        self.connection.close()

    def begin(self):
        """False: it is answered already."""
        self.verdict = signature_is_right(self)
        if "redirect" in options:
            self.answer(307, [("Location", options["redirect"] + self.path)])
        elif self.verdict is False:
            self.answer(403, code="SignatureDoesNotMatch")
        else:
            return True
        return False

    def name(self):
        """Path style, and virtual hosts of localhost."""
        host = self.headers["host"].split(":")[0]
        if host.endswith(".localhost"):
            return "/" + host[: -len(".localhost")] + self.path
        return self.path

    def condition(self):
        """What the conditions make of it: None, or a status."""
        found = objects.get(self.name())
        match = self.headers.get("if-match")
        none = self.headers.get("if-none-match")
        if (match or none) and "not-implemented" in options:
            return 501
        if match and "ignore-match" not in options:
            if not found:
                if "missing-is-match" not in options:
                    return 404
            elif found["etag"] != match:
                return 412
        if none and found and "ignore-none-match" not in options:
            return 412
        return None

    def object_headers(self, found):
        headers = [("Last-Modified", formatdate(found["time"], usegmt=True))]
        if "no-etag" not in options:
            headers.append(("ETag", found["etag"]))
        return headers + found["headers"]

    def do_HEAD(self):
        if not self.begin():
            return
        found = objects.get(self.name())
        if not found:
            self.answer(404)
            return
        self.answer(200, self.object_headers(found)
                    + [("Content-Length", str(len(found["body"])))])

    def do_GET(self):
        if not self.begin():
            return
        found = objects.get(self.name())
        refused = self.condition()
        if not found:
            self.answer(404, code="NoSuchKey")
        elif refused:
            self.answer(refused, code="PreconditionFailed")
        elif "cut-get" in options:
            self.send_response(200)
            self.send_header("ETag", found["etag"])
            self.send_header("Content-Length", str(len(found["body"])))
            self.end_headers()
            self.wfile.write(found["body"][: len(found["body"]) // 2])
            self.hang_up("cut")
        else:
            self.answer(200, self.object_headers(found), found["body"])

    def do_DELETE(self):
        if self.begin():
            objects.pop(self.name(), None)
            self.answer(204)

    def do_POST(self):
        self.verdict = None
        self.answer(400, code="NoMultipartHere")

    def accident(self):
        global puts
        with lock:
            puts += 1
            number = puts
        which, _, how = options.get("fail-put", "").partition(":")
        return how if which in (str(number), "all") else ""

    def keep(self, body):
        headers = [] if "drop-meta" in options else [
            (n, v) for n, v in self.headers.items()
            if n.lower().startswith(("x-amz-meta-", "cache-control", "content-type"))
        ]
        etag = '"' + hashlib.md5(body).hexdigest() + '"'
        objects[self.name()] = {"body": body, "etag": etag, "headers": headers,
                                "time": time.time()}
        return etag

    def do_PUT(self):
        if not self.begin():
            return
        if "?" in self.path:
            self.answer(400, code="NoMultipartHere")
            return
        if "no-bucket" in options:
            self.rfile.read(int(self.headers["content-length"]))
            self.answer(404, code="NoSuchBucket")
            return
        how = self.accident()
        refused = self.condition() if "judge-early" in options else None
        if how == "stall":
            self.note("stalled", self.verdict)
            time.sleep(600)
        body = self.rfile.read(int(self.headers["content-length"]))
        if len(body) != int(self.headers["content-length"]):
            self.hang_up("short")
            return
        if hashlib.sha256(body).hexdigest() != self.headers["x-amz-content-sha256"]:
            self.answer(400, code="XAmzContentSHA256Mismatch")
            return
        if how == "drop-before":
            self.hang_up("dropped")
        elif how in ("500", "503", "409"):
            self.answer(int(how), code="InternalError")
        else:
            self.write(body, how, refused)

    def write(self, body, how, refused):
        if "two-steps" in options:
            refused = self.condition()
            time.sleep(0.5)
            with lock:
                etag = None if refused else self.keep(body)
        else:
            with lock:
                if "judge-early" not in options:
                    refused = self.condition()
                etag = None if refused else self.keep(body)
        if how == "drop-after":
            self.hang_up("dropped")
        elif how == "500-after":
            self.answer(500, code="InternalError")
        elif refused:
            self.answer(refused, code={404: "NoSuchKey", 501: "NotImplemented"}
                        .get(refused, "PreconditionFailed"))
        else:
            self.answer(200, [] if "no-etag" in options else [("ETag", etag)])


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", 0), Handler)
if "tls" in options:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["tls"])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", server.server_address[1], flush=True)
server.serve_forever()
