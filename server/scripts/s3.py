"""An S3 server on loopback for the other scripts: moto, a Python package."""

import contextlib
import logging
import urllib.request

from moto.server import ThreadedMotoServer


@contextlib.contextmanager
def server():
    """Runs a server. Returns its URL."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    try:
        yield "http://%s:%d" % running.get_host_and_port()
    finally:
        running.stop()


def bucket(endpoint, name):
    """Makes a bucket. Returns its URL."""
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT")
    urllib.request.urlopen(request).close()
    return f"s3://{name}"


def environment(endpoint):
    """The variables with which programs find the server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
