# A TLS client: sends a file, prints what comes back. Arguments: see ../pipe-arguments.ts.
import socket
import ssl
import sys

given = dict(argument.split("=", 1) for argument in sys.argv[1:])
context = ssl.create_default_context(cafile=given["ca"])
context.minimum_version = ssl.TLSVersion.TLSv1_3
if "certificate" in given:
    context.load_cert_chain(given["certificate"], given["key"])
with open(given["request"], "rb") as file:
    request = file.read()

session = None
for _ in range(int(given["connections"])):
    with socket.create_connection(("127.0.0.1", int(given["port"]))) as transport:
        with context.wrap_socket(transport, server_hostname="localhost", session=session) as tls:
            tls.sendall(request)
            while chunk := tls.recv(65536):
                sys.stdout.buffer.write(chunk)
            session = tls.session
