// A datagram tunnel by Deno's QUIC (quinn), either end of it; it is used as go/peer.go is.

const ALPN = ['svc-tunnel']
const HEARTBEAT_BYTES = 3000
const HEX = 16

const input = Deno.stdin.readable
  .pipeThrough(new TextDecoderStream())
  .pipeThrough(
    new TransformStream({
      start() {
        this.rest = ''
      },
      transform(text, controller) {
        const lines = (this.rest + text).split('\n')
        this.rest = lines.pop()
        for (const line of lines) controller.enqueue(line)
      },
    }),
  )
  .getReader()

const [role, ...rest] = Deno.args
await (role === 'client' ? client(...rest) : server(...rest))
Deno.exit()

async function client(port, caFile) {
  const caCerts = [await Deno.readTextFile(caFile)]
  const options = { hostname: '127.0.0.1', serverName: 'relay.localhost', alpnProtocols: ALPN, caCerts }
  const connection = await Deno.connectQuic({ port: Number(port), ...options })
  const { readable, writable } = await connection.createBidirectionalStream()
  const [reader, writer] = [readable.getReader(), writable.getWriter()]

  const { value: token } = await input.read()
  await writer.write(new TextEncoder().encode(JSON.stringify({ access_token: token })))
  say('answer', await readJson(reader))

  await writer.write(new Uint8Array(HEARTBEAT_BYTES))
  let back = 0
  while (back < HEARTBEAT_BYTES) back += (await reader.read()).value.length
  say('heartbeat', back)

  await eachDatagram(connection, (datagram) => connection.sendDatagram(datagram))
}

async function server(certificateFile, keyFile) {
  const [cert, key] = await Promise.all([Deno.readTextFile(certificateFile), Deno.readTextFile(keyFile)])
  const endpoint = new Deno.QuicEndpoint({ hostname: '127.0.0.1', port: 0 })
  const listener = endpoint.listen({ cert, key, alpnProtocols: ALPN })
  say('port', endpoint.addr.port)

  const connection = await listener.accept()
  const { value: stream } = await connection.incomingBidirectionalStreams.getReader().read()
  const [reader, writer] = [stream.readable.getReader(), stream.writable.getWriter()]
  say('hello', await readJson(reader))
  await writer.write(new TextEncoder().encode('{"ok":true,"heartbeat":true}'))
  void sendBack(reader, writer)
  void sendLines(connection)
  await eachDatagram(connection, (datagram) => say('datagram', datagram.toHex()))
}

async function sendBack(reader, writer) {
  let back = 0
  while (back < HEARTBEAT_BYTES) {
    const { value } = await reader.read()
    await writer.write(value)
    back += value.length
  }
  say('heartbeat', back)
}

async function sendLines(connection) {
  for (let line = await input.read(); !line.done; line = await input.read())
    await connection.sendDatagram(
      Uint8Array.from(line.value.match(/../g), (digits) => Number.parseInt(digits, HEX)),
    )
}

/** Calls `work` with each datagram until the connection is closed. */
async function eachDatagram(connection, work) {
  const receive = async () => {
    for (;;) await work(await connection.readDatagram())
  }
  await receive().catch(() => {})
  say('closed', (await connection.closed).closeCode)
}

async function readJson(reader) {
  let text = ''
  while (!text.endsWith('}')) text += new TextDecoder().decode((await reader.read()).value)
  return text
}

function say(...words) {
  Deno.stdout.writeSync(new TextEncoder().encode(`${words.join(' ')}\n`))
}
