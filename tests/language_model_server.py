"""A local server with OpenAI's protocol, which fails on demand."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from everycell.language_models.settings import EndpointSettings


def reply_of(text="In Holland.", finish="stop", prompt_tokens=4, **more):
    return {
        "model": "gpt-9-2026",
        "system_fingerprint": "fp_1",
        "choices": [{"message": {"content": text}, "finish_reason": finish, **more}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 3},
    }


class Server:
    """Gives its replies in order, the last one again and again, and keeps what it was sent."""

    def __init__(self):
        self.replies = [reply_of()]
        self.seen = []
        self.models, self.page, self.looked_up = ["gpt-8", "gpt-9"], 20, []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((self.path, body, dict(self.headers)))
                position = min(len(outer.seen), len(outer.replies)) - 1
                reply = outer.replies[position]
                if callable(reply):
                    reply = reply(self, body)
                if reply is not None:
                    self.send(*reply if isinstance(reply, tuple) else (200, {}, reply))

            def do_GET(self):
                outer.looked_up.append(self.path)
                name = self.path.partition("/models/")[2]
                listed = {"data": [{"id": model} for model in outer.models[: outer.page]]}
                self.send(404 if name and name not in outer.models else 200, {}, listed)

            def send(self, status, headers, content):
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def settings(self, **changed):
        address = f"http://127.0.0.1:{self.http.server_port}/v1"
        fast = {"timeout": 30.0, "wait": 0.001, "retries": 2}
        return EndpointSettings(**{"url": address, "model": "gpt-9"} | fast | changed)

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
