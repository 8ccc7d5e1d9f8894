// Targets that are not reached by a port alone: Unix sockets, certificates for another name, and what the owner reads when TLS fails.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { ExposeOptions, Exposure, SvcError } from '../../src/index.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

async function exposed(options: Partial<ExposeOptions>): Promise<{ url: string; failures: SvcError[] }> {
  const failures: SvcError[] = []
  const exposure: Exposure = await exposeAt(relay, {
    onTargetError: (error) => failures.push(error),
    ...options,
  })
  ends.push(() => exposure.close())
  return { url: exposure.sites[0]!.url, failures }
}

function closed(server: Server): void {
  server.closeAllConnections()
  server.close()
}

async function secureTarget(): Promise<number> {
  const certificate = { cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }
  const server = createHttpsServer(certificate, (_, response) => void response.end('secure'))
  ends.push(() => closed(server))
  return listening(server)
}

it('a server at a Unix socket answers requests and opens WebSockets', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unix-'))
  ends.push(() => rm(folder, { recursive: true }))
  const path = join(folder, 'app 1.sock')
  const server = createServer((asked, response) => void response.end(`${asked.headers.host}${asked.url}`))
  ends.push(() => closed(server))
  new WebSocketServer({ server }).on('connection', (socket) => socket.send('welcome'))
  await once(server.listen(path), 'listening')
  const { url, failures } = await exposed({ http: `unix:${path}`, host: 'rewrite' })
  expect(await text(await visit(relay, url, '/a?b'))).toBe('localhost/a?b')
  const { host, hostname } = new URL(url)
  const options = { servername: hostname, ca: relay.ca, headers: { Host: host } }
  const socket = new WebSocket(`wss://127.0.0.1:${relay.port}/`, [], options)
  expect(String((await once(socket, 'message'))[0])).toBe('welcome')
  socket.close()
  server.closeAllConnections()
  server.close()
  expect((await visit(relay, url)).statusCode).toBe(502)
  expect(failures[0]!.message).toBe(`unix:${path} does not answer: ENOENT`)
})

it('the certificate of a target may be for another name, which is given', async () => {
  const port = await secureTarget()
  const http = `https://127.0.0.1:${port}`
  const named = await exposed({ http, targetCa: CERTIFICATE_PEM, targetServerName: 'relay.localhost' })
  expect(await text(await visit(relay, named.url))).toBe('secure')
})

it('an owner reads what helps when the TLS of a target fails', async () => {
  const port = await secureTarget()
  const plain = createServer((_, response) => void response.end())
  ends.push(() => closed(plain))
  const plainPort = await listening(plain)
  for (const [options, advice] of [
    [{ http: `https://relay.localhost:${port}` }, '--target-ca FILE'],
    [{ http: `https://127.0.0.1:${port}`, targetCa: CERTIFICATE_PEM }, '--target-server-name NAME'],
    [{ http: `https://127.0.0.1:${plainPort}` }, 'write http://'],
    [{ http: port }, 'write https://'],
  ] as const) {
    const { url, failures } = await exposed(options)
    expect((await visit(relay, url)).statusCode).toBe(502)
    await expect.poll(() => failures.at(-1)?.message).toContain(advice)
  }
})

it('visitors of TLS 1.2 are served where the owner says so, and not otherwise', async () => {
  const answer = createServer((_, response) => void response.end('old'))
  ends.push(() => closed(answer))
  const http = await listening(answer)
  const versionOf = async (url: string): Promise<string | null> => {
    const socket = connect({
      host: '127.0.0.1',
      port: relay.port,
      servername: new URL(url).hostname,
      ca: relay.ca,
      maxVersion: 'TLSv1.2',
    })
    const version = await new Promise<string | null>((resolve) => {
      socket.once('secureConnect', () => resolve(socket.getProtocol()))
      socket.once('error', () => resolve(null))
    })
    socket.destroy()
    return version
  }
  expect(await versionOf((await exposed({ http, tlsMinVersion: 'TLSv1.2' })).url)).toBe('TLSv1.2')
  expect(await versionOf((await exposed({ http })).url)).toBe(null)
})
