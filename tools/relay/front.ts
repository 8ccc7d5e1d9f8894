// Stands between visitors and a relay whose key it has: it passes connections on, reads what passes, spares some clients, or lies about
// which sites the relay has. Together with the relay it is one that cheats.
import { hash } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { siteQuestionText } from '@svc/protocol'

export interface Front {
  /** The port to which clients come, and that of the relay. */
  readonly port: number
  readonly relayPort: number
  /** Treats connections to tenants so. */
  mode: 'pass' | 'terminate' | 'stall'
  /** Says of a client's address whether its connections to tenants are always passed on. */
  spares: (address: string | undefined) => boolean
  /** What visitors of tenants sent, in the clear. */
  readonly read: string[]
  /**
   * Labels of sites that the relay does not have, with what it answers to the question whether it has them. It shows visitors its own
   * page there.
   */
  readonly lies: Map<string, object>
  /** Gives it the relay's certificate and key, with which a server can answer for every tenant. */
  useKeyPair(cert: string, key: string): void
  close(): void
}

interface Behind {
  /** The port at which it listens; `relayPort` is the relay's. */
  port: number
  relayPort: number
  /** @default relay.localhost */
  host?: string
  /** A custom domain of a tenant. */
  domain?: string
}

/** What visitors of a site that the relay only claims to have get. */
const FALSE_PAGE = 'not the site'
const QUESTION = /^GET \/discovery\/site\?site=([\da-f]{64}) /

export function startFront({ port, relayPort, host = 'relay.localhost', domain = host }: Behind): Front {
  const sockets = new Set<Socket>()
  const keep = <T extends Socket>(socket: T): T => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const onwardTo = (servername: string): TLSSocket =>
    keep(connectTls({ host: '127.0.0.1', port: relayPort, servername, rejectUnauthorized: false }))
  const tlsServer = createTlsServer({ ALPNProtocols: ['http/1.1'] }, (visitor) => {
    keep(visitor)
    const { servername } = visitor as TLSSocket & { servername: string }
    const isRoot = servername === host
    if (front.lies.has(servername.split('.')[0]!))
      return void visitor.end(httpAnswer('text/plain', FALSE_PAGE))
    const onward = onwardTo(servername)
    onward.pipe(visitor)
    visitor.on('end', () => onward.end())
    visitor.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      if (!isRoot) front.read.push(text)
      const lie = isRoot ? lieTo(QUESTION.exec(text)?.[1], front.lies) : undefined
      if (lie === undefined) onward.write(chunk)
      else visitor.write(httpAnswer('application/json', JSON.stringify({ ok: true, data: lie })))
    })
  })
  tlsServer.on('tlsClientError', () => {})
  const server: Server = createServer((socket) => {
    keep(socket)
    socket.once('data', (hello) => {
      socket.pause()
      const isTenant = hello.includes(`.${host}`) || (domain !== host && hello.includes(domain))
      const isSpared = front.spares(socket.remoteAddress)
      if (isTenant && !isSpared && front.mode === 'stall') return
      socket.unshift(hello)
      if (isTenant ? front.mode === 'terminate' && !isSpared : front.lies.size > 0) {
        tlsServer.emit('connection', socket)
        return
      }
      const onward = keep(connect(relayPort, '127.0.0.1'))
      socket.pipe(onward).pipe(socket)
    })
  }).listen(port, '127.0.0.1')
  const front: Front = {
    port,
    relayPort,
    mode: 'pass',
    spares: () => false,
    read: [],
    lies: new Map(),
    useKeyPair: (cert, key) => tlsServer.setSecureContext({ cert, key }),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return front
}

function lieTo(question: string | undefined, lies: Front['lies']): object | undefined {
  for (const [label, lie] of lies) if (question === hash('sha256', siteQuestionText(label))) return lie
  return undefined
}

function httpAnswer(type: string, body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
