// Go: the WebSockets of gorilla and coder, which compare Origin with Host, and gRPC as a server and as a client.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { promisify } from 'node:util'
import { EchoClient, Metadata, status } from '../../../sdk-node/test/support/grpc-echo.ts'
import { root } from '../../../tools/programs/command.ts'
import type { Application } from '../application.ts'
import { go, write } from '../installers.ts'
import type { Visitor } from '../visitor.ts'

const GRPC = 'google.golang.org/grpc@v1.85.0'

const WEBSOCKETS = `package main

import (
	"log"
	"net/http"
	"os"

	coder "github.com/coder/websocket"
	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{}

func main() {
	http.HandleFunc("/gorilla", func(w http.ResponseWriter, r *http.Request) {
		c, err := upgrader.Upgrade(w, r, http.Header{"Set-Cookie": {"sticky=abc; Path=/"}})
		if err != nil {
			return
		}
		defer c.Close()
		kind, message, err := c.ReadMessage()
		if err == nil {
			c.WriteMessage(kind, message)
		}
	})
	http.HandleFunc("/coder", func(w http.ResponseWriter, r *http.Request) {
		c, err := coder.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		kind, message, err := c.Read(r.Context())
		if err == nil {
			c.Write(r.Context(), kind, message)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
`

/** Messages are bytes, as the service of the tests has them. */
const CODEC = `
type raw struct{}

func (raw) Name() string                       { return "raw" }
func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = append([]byte{}, data...); return nil }
`

const SERVER = `package main

import (
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)
${CODEC}
func echo(_ any, stream grpc.ServerStream) error {
	came, _ := metadata.FromIncomingContext(stream.Context())
	stream.SetHeader(metadata.MD{"x-heard": came.Get("x-said")})
	stream.SetTrailer(metadata.Pairs("x-last-bin", string([]byte{0, 255})))
	for {
		var message []byte
		if err := stream.RecvMsg(&message); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if len(message) == 0 {
			return status.Error(codes.InvalidArgument, "nothing to echo")
		}
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(echo))
	log.Fatal(server.Serve(listener))
}
`

/** Its arguments: the address of the relay, the authority of the site, and the certificate of the relay's authority. */
const CLIENT = `package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)
${CODEC}
func must(is bool, words ...any) {
	if !is {
		log.Fatal(words...)
	}
}

func main() {
	log.SetFlags(0)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Args[3]))
	conn, err := grpc.NewClient("passthrough:///"+os.Args[1],
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots})),
		grpc.WithAuthority(os.Args[2]),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	must(err == nil, err)
	ctx := metadata.AppendToOutgoingContext(context.Background(), "x-said", "one")
	large, answer := bytes.Repeat([]byte("gRPC"), 150000), []byte{}
	var head, last metadata.MD
	err = conn.Invoke(ctx, "/test.Echo/Unary", &large, &answer, grpc.Header(&head), grpc.Trailer(&last))
	must(err == nil, "unary: ", err)
	must(bytes.Equal(answer, large), "unary: another answer of ", len(answer), " bytes")
	must(len(head.Get("x-heard")) == 1, "no metadata: ", head)
	must(len(last.Get("x-last-bin")) == 1 && last.Get("x-last-bin")[0] == "\\x00\\xff", "no trailers: ", last)
	err = conn.Invoke(ctx, "/test.Echo/Unary", &[]byte{}, &answer)
	must(status.Code(err) == codes.InvalidArgument, "no status: ", err)
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/test.Echo/Stream")
	must(err == nil, "stream: ", err)
	for _, text := range []string{"one", "two", "three"} {
		message := []byte(text)
		must(stream.SendMsg(&message) == nil, "stream: nothing sent")
		err = stream.RecvMsg(&answer)
		must(err == nil && string(answer) == text, "stream: ", err, string(answer))
	}
	must(stream.CloseSend() == nil, "stream: no end")
	err = stream.RecvMsg(&answer)
	must(err != nil && err.Error() == "EOF", "stream: ", err)
}
`

/** The server that the tests of gRPC have. */
const NODE_SERVER = `
import { EchoServer } from '${path.join(root, 'sdk-node/test/support/grpc-echo.ts')}'
await new EchoServer().start(false, '127.0.0.1:' + process.argv[2])
`

const CALLS = 'a call with metadata, trailers and a status, and a conversation'

export const GO: readonly Application[] = [
  {
    name: 'gorilla and coder',
    checks: 'WebSockets of both, whose `Origin` has to be their host; a cookie in the 101',
    install: (folder) =>
      go(folder, WEBSOCKETS, ['github.com/gorilla/websocket@v1.5.3', 'github.com/coder/websocket@v1.8.15']),
    start: (folder, port) => [path.join(folder, 'app'), String(port)],
    async check(visitor) {
      const { headers } = await visitor.echo('/gorilla', 'hello')
      if (!headers['set-cookie']?.[0]?.startsWith('sticky=')) throw new Error('the cookie of the 101 is lost')
      await visitor.echo('/coder', 'hello')
    },
  },
  {
    name: 'gRPC server in Go',
    checks: `${CALLS}, of a client of \`@grpc/grpc-js\``,
    install: (folder) => go(folder, SERVER, [GRPC]),
    start: (folder, port) => [path.join(folder, 'app'), String(port)],
    check: callAsNode,
  },
  {
    name: 'gRPC client in Go',
    checks: `${CALLS}, at a server of \`@grpc/grpc-js\``,
    install(folder) {
      write(folder, { 'server.mjs': NODE_SERVER })
      return go(folder, CLIENT, [GRPC])
    },
    start: (folder, port) => [process.execPath, path.join(folder, 'server.mjs'), String(port)],
    async check({ url, port, ca }, folder) {
      const args = [`127.0.0.1:${port}`, `${url.hostname}:${url.port || 443}`, String(ca)]
      await promisify(execFile)(path.join(folder, 'app'), args).catch(({ stderr, message }) => {
        throw new Error(String(stderr).trim() || message)
      })
    },
  },
]

async function callAsNode({ url, port, ca }: Visitor): Promise<void> {
  const client = new EchoClient(port, ca, url.host)
  try {
    const metadata = new Metadata()
    metadata.add('x-said', 'one')
    const large = Buffer.alloc(600_000, 'gRPC')
    const { answer, head, status: ok } = await client.unary(large, metadata)
    if (!answer?.equals(large)) throw new Error(`the call has no echo: ${ok.code} ${ok.details}`)
    if (head.get('x-heard')[0] !== 'one') throw new Error('the metadata is lost')
    if (!Buffer.from([0, 255]).equals(ok.metadata.get('x-last-bin')[0] as Buffer))
      throw new Error('the trailers are lost')
    const { status: refused } = await client.unary(Buffer.alloc(0))
    if (refused.code !== status.INVALID_ARGUMENT) throw new Error(`the status is ${refused.code}`)
    const call = client.stream()
    for (const message of ['one', 'two', 'three']) {
      call.write(Buffer.from(message))
      const [came] = await once(call, 'data')
      if (String(came) !== message) throw new Error(`the conversation has ${came} in place of ${message}`)
    }
    call.end()
    const [{ code }] = await once(call, 'status')
    if (code !== status.OK) throw new Error(`the conversation ends with ${code}`)
  } finally {
    client.client.close()
  }
}
