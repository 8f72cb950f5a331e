"""An object storage service in memory that implements enough of S3 for the tests. `paceline` uses it through
AWS_ENDPOINT_URL."""

import email.utils
import hashlib
import os
import re
import socket
import struct
import threading
import time
import urllib.parse
import xml.etree.ElementTree as xml
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

BUCKET = "bucket"
ACCOUNT = "key"


class ObjectStorage:
    """Objects by name, in one bucket, for one account. While `is_away` is set, no request is answered. A read takes
    `delay` seconds, and then runs at `rate` bytes a second, if set, for each reader. `read_at_once` has, for each
    read, the names of all objects that were being read when it started.

    The next write of an object whose name ends with `unlucky[0]` is treated as `unlucky[1]` says. The object is
    stored, and the connection is "closed" or "reset" without an answer; or it is "late": stored only when `come_late`
    is called, and the connection reset; or it is "denied"; or it is "held", from when `held` is set until `released`
    is.
    """

    def __init__(self):
        self.unlucky, self.late = None, {}
        self.held, self.released = threading.Event(), threading.Event()
        self.delay, self.rate = 0, None
        self.is_away = False
        self.reading, self.read_at_once = [], []
        self.objects = {}
        self.uploads = {}
        self.requests = []
        self.lock = threading.Lock()
        service = self

        class Handler(Requests):
            storage = service

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    @property
    def environment(self):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.http.server_port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": ACCOUNT, "AWS_SECRET_ACCESS_KEY": "secret"}

    def url(self, name):
        return f"s3://{BUCKET}/{name}"

    def come_late(self):
        with self.lock:
            self.objects.update(self.late)

    def luck_of(self, name):
        """Returns the treatment of a write. The next write is normal again."""
        with self.lock:
            if self.unlucky is None or not name.endswith(self.unlucky[0]):
                return None
            _, luck = self.unlucky
            self.unlucky = None
            return luck

    def close(self):
        self.released.set()
        self.http.shutdown()
        self.http.server_close()


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    storage = None

    def log_message(self, *_):
        pass

    def parse_request(self):
        if not super().parse_request():
            return False
        if self.storage.is_away:
            self.close_connection = True
            return False
        # As in a real service, before anything else is checked.
        bucket = urllib.parse.urlsplit(self.path).path.lstrip("/").partition("/")[0]
        if f"Credential={ACCOUNT}/" not in self.headers.get("Authorization", ""):
            self.refuse(403, "InvalidAccessKeyId", "The Access Key Id you provided does not exist in our records.")
            return False
        if bucket != BUCKET:
            self.refuse(404, "NoSuchBucket", "The specified bucket does not exist")
            return False
        return True

    def refuse(self, status, code, message):
        self.body()
        self.answer(status, f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>'
                            f"<Resource>{escape(self.path)}</Resource></Error>")

    def answer(self, status, body=b"", **headers):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code):
        self.answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>")

    def parts(self):
        url = urllib.parse.urlsplit(self.path)
        bucket, _, name = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        with self.storage.lock:
            self.storage.requests.append((self.command, name, url.query))
        return bucket, name, dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while length := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def store(self, name, content):
        if self.headers.get("If-None-Match") == "*" and name in self.storage.objects:
            return None
        self.storage.objects[name] = (content, time.time())
        return etag(content)

    def reset(self):
        """Ends the connection with an RST."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def do_PUT(self):
        _, name, query = self.parts()
        body = self.body()
        luck = self.storage.luck_of(name)
        if luck == "denied":
            return self.error(403, "AccessDenied")
        if luck == "late":
            self.storage.late[name] = body, time.time()
            return self.reset()
        if luck == "held":
            self.storage.held.set()
            self.storage.released.wait()
        with self.storage.lock:
            if "uploadId" in query:
                upload = self.storage.uploads.get(query["uploadId"])
                if upload is None:
                    return self.error(404, "NoSuchUpload")
                upload[1][int(query["partNumber"])] = body
                return self.answer(200, ETag=etag(body))
            tag = self.store(name, body)
        if luck == "closed":
            self.close_connection = True
            return None
        if luck == "reset":
            return self.reset()
        return self.answer(200, ETag=tag) if tag else self.error(412, "PreconditionFailed")

    def do_POST(self):
        _, name, query = self.parts()
        body = self.body()
        with self.storage.lock:
            if "uploads" in query:
                upload_id = f"upload{len(self.storage.uploads)}"
                self.storage.uploads[upload_id] = name, {}
                return self.answer(200, f"<InitiateMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{escape(name)}</Key>"
                                        f"<UploadId>{upload_id}</UploadId></InitiateMultipartUploadResult>")
            if "uploadId" in query:
                _, parts = self.storage.uploads.pop(query["uploadId"])
                small = [number for number in sorted(parts)[:-1] if len(parts[number]) < 5 << 20]
                if small:
                    return self.error(400, "EntityTooSmall")
                tag = self.store(name, b"".join(parts[number] for number in sorted(parts)))
                return self.answer(200, f"<CompleteMultipartUploadResult><ETag>{escape(tag)}</ETag></CompleteMultipartUploadResult>")
            names = [key.text for key in xml.fromstring(body).iter() if key.tag.endswith("Key")]
            for gone in names:
                self.storage.objects.pop(gone, None)
        deleted = "".join(f"<Deleted><Key>{escape(gone)}</Key></Deleted>" for gone in names)
        return self.answer(200, f"<DeleteResult>{deleted}</DeleteResult>")

    def do_DELETE(self):
        _, name, query = self.parts()
        with self.storage.lock:
            if "uploadId" in query:
                self.storage.uploads.pop(query["uploadId"], None)
            else:
                self.storage.objects.pop(name, None)
        return self.answer(204)

    def do_GET(self):
        _, name, query = self.parts()
        if not name:
            return self.list(query)
        with self.storage.lock:
            found = self.storage.objects.get(name)
        if found is None:
            return self.error(404, "NoSuchKey")
        content, written = found
        headers = {"ETag": etag(content), "Last_Modified": email.utils.formatdate(written, usegmt=True)}
        if self.command == "HEAD":
            return self.answer(200, Content_Length=str(len(content)), **headers)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted:
            return self.answer_slowly(name, content, headers)
        first = int(wanted[1])
        last = min(int(wanted[2]) if wanted[2] else len(content) - 1, len(content) - 1)
        if first >= len(content):
            return self.error(416, "InvalidRange")
        return self.answer(206, content[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(content)}", **headers)

    do_HEAD = do_GET

    def answer_slowly(self, name, content, headers):
        storage = self.storage
        with storage.lock:
            storage.reading.append(name)
            storage.read_at_once.append(list(storage.reading))
        try:
            # The service is slow.
            time.sleep(storage.delay)
            if storage.rate is None:
                return self.answer(200, content, **headers)
            self.answer(200, b"", Content_Length=str(len(content)), **headers)
            piece = max(1, int(storage.rate / 20))
            for at in range(0, len(content), piece):
                self.wfile.write(content[at:at + piece])
                # The service is slow.
                time.sleep(len(content[at:at + piece]) / storage.rate)
        except OSError:
            # The client has disconnected.
            self.close_connection = True
        finally:
            with storage.lock:
                storage.reading.remove(name)

    def list(self, query):
        with self.storage.lock:
            found = sorted((name, value) for name, value in self.storage.objects.items() if name.startswith(query.get("prefix", "")))
        contents = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(written))}"
            f"</LastModified><ETag>{escape(etag(content))}</ETag><Size>{len(content)}</Size></Contents>" for name, (content, written) in found)
        self.answer(200, f"<ListBucketResult><Name>{BUCKET}</Name><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>")


def etag(content):
    return f'"{hashlib.md5(content).hexdigest()}"'
