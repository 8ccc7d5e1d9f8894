// The page that explains the relay's certificate before a browser warns of it: plain HTTP, so that it comes without a warning.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCaFiles } from '../../relay/src/core/api/handlers/ca-files.ts'
import { createStaticFiles, PAGE_POLICY } from '../../relay/src/core/api/handlers/static-files.ts'
import { BodyWriter } from '../../relay/src/core/api/http/body-writer.ts'
import type { Started } from '../../relay/web/src/start/trust.ts'

const LOOPBACK = '127.0.0.1'
const MISDIRECTED = 421
/** What the page and its parts may ask for, below the directory of the relay's pages. */
const SERVED = /^(?:start\.html$|assets\/|favicon\.svg$)/
const PAGE = '/start.html'
const STARTED = '/start.json'

export interface StartPageOptions {
  relay: URL
  /** An https URL of a site of the relay, which answers without counting a visit. */
  secure: string
  /** PEM of the CA's certificate, and the path of its file as a word of a shell. */
  ca: string
  file: string
  /** Directory of the relay's pages. */
  pages: string
  /** The port to take, unless another program has it: then any. */
  port: number
  /** The address at which devices of the network get the page, too; undefined: only this machine does. */
  lan?: string | undefined
}

export interface StartPage {
  url: string
  /** The same for devices of the network. */
  lanUrl: string | undefined
  close(): void
}

export async function serveStartPage(options: StartPageOptions): Promise<StartPage> {
  const servers = [createServer()]
  const port = await listen(servers[0]!, options.port)
  const { lan, relay } = options
  if (lan !== undefined && lan !== LOOPBACK) {
    const server = createServer().listen(port, lan)
    servers.push(server)
    await once(server, 'listening')
  }
  const here = ['localhost', LOOPBACK]
  const hostsOf = (names: string[]): Set<string> => new Set(names.map((name) => `${name}:${port}`))
  // Another name would let the page of a stranger, whose name leads to this machine, read along.
  const hosts = hostsOf([...here, relay.hostname, ...(lan === undefined ? [] : [lan])])
  const answer = answerWith(options, port)
  for (const server of servers)
    server.on('request', (request, response) => {
      if (!hosts.has(`${request.headers.host}`)) response.writeHead(MISDIRECTED).end()
      else answer(request, response).catch(() => response.destroy())
    })
  return {
    url: `http://localhost:${port}/`,
    lanUrl: lan && `http://${lan}:${port}/`,
    close: () => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

function answerWith(
  { relay, secure, ca, file, pages }: StartPageOptions,
  port: number,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const plain = new URL(STARTED, `http://${relay.hostname}:${port}`).href
  const started: Started = { relay: relay.href, secure, plain }
  const writer = new BodyWriter(() => LOOPBACK)
  const policy = PAGE_POLICY.replace(
    "connect-src 'self'",
    `connect-src 'self' ${originOf(secure)} ${originOf(plain)}`,
  )
  const files = createStaticFiles(pages, (name) => !SERVED.test(name), writer, { policy })
  const handler = createCaFiles(() => ca, writer, files)
  return async (request, response) => {
    // Whoever asks from elsewhere may name any host.
    const isHere = request.socket.localAddress === LOOPBACK
    if (request.url === STARTED) return sendStarted(response, isHere ? { ...started, file } : started)
    if (request.url === '/') request.url = PAGE
    await handler(request, response)
  }
}

function sendStarted(response: ServerResponse, started: Started): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(JSON.stringify(started))
}

/** @returns the port */
async function listen(server: Server, wanted: number): Promise<number> {
  for (const port of [wanted, 0])
    try {
      server.listen(port, LOOPBACK)
      await once(server, 'listening')
      break
    } catch (error) {
      if (port === 0) throw error
    }
  return (server.address() as AddressInfo).port
}

function originOf(url: string): string {
  return new URL(url).origin
}
