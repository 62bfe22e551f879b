"""An S3 server on a free port of loopback, for tests: prints HOST:PORT and runs until its end.

With --until-stdin-ends it ends with its standard input too, so that it never outlives the program
that started it.
"""

import sys
import threading

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("%s:%d" % server.get_host_and_port(), flush=True)
if "--until-stdin-ends" in sys.argv:
    sys.stdin.read()
else:
    threading.Event().wait()
