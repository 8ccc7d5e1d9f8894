// Visitors of TCP and TLS services who leave amid a transfer: `svc`, as a process of its own, keeps no descriptor of any.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, it as every, expect } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { listening, TCP_PORTS, TCP_SETTINGS, tcpServer } from '../support/exposed.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'
import { reported, runSvc } from '../support/svc.ts'

const it = wholeOnly(every, 'faults')

const VISITORS: number = atDepth(200, 60)
/** So many come at once. */
const BATCH = 20
const BLOCK = randomBytes(64 * 1024)

let home: string
const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-cut-'))
})
afterAll(() => rm(home, { recursive: true }))

/** How a visitor leaves a service that goes on sending. */
const LEAVING: ((visitor: Socket) => void)[] = [
  (visitor) => visitor.destroy(),
  (visitor) => visitor.resetAndDestroy(),
  (visitor) => visitor.end(() => visitor.destroy()),
  (visitor) => visitor.end(() => setImmediate(() => visitor.destroy())),
  (visitor) => visitor.end(() => visitor.resetAndDestroy()),
]

it.each(['native', 'native-sessions', 'websocket'])(
  'a dedicated port by the carrier %s: no side keeps a connection, and SIGTERM ends svc',
  async (carrier) => {
    const service = tcpServer((socket) => sendForEver(socket.resume()))
    const port = await listening(service)
    const svc = runSvc(home, ['expose', '--tcp', String(port), '--json', '--carrier', carrier, ...at()])
    const { tcp_address } = await reported(svc, 'online')
    const visited = Number(tcp_address!.split(':').at(-1))
    await visitAndLeave(() => {
      const tcp = connect({ port: visited, host: '127.0.0.1', allowHalfOpen: true })
      return [tcp, tcp]
    })
    await expectNoConnections([port, visited])
    svc.child.kill('SIGTERM')
    expect(await svc.ended).toBe(0)
    service.close()
  },
)

it('TLS passthrough: no side keeps a connection, and SIGTERM ends svc', async () => {
  const service = createTlsServer(
    { cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM, allowHalfOpen: true },
    sendForEver,
  )
  const port = await listening(service)
  const svc = runSvc(home, ['expose', '--tls', String(port), '--json', ...at()])
  const { url } = await reported(svc, 'online')
  const { hostname } = new URL(url!)
  await visitAndLeave(() => {
    const tcp = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true })
    const tls = connectTls({ socket: tcp, servername: hostname, rejectUnauthorized: false })
    return [tcp, tls]
  })
  await expectNoConnections([port])
  svc.child.kill('SIGTERM')
  expect(await svc.ended).toBe(0)
  service.close()
})

it('SIGTERM ends svc while its relay, its service and its visitors neither read nor answer', async () => {
  const silent = await startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS)))
  const service = tcpServer((socket) => sendForEver(socket.pause()))
  const args = ['expose', '--tcp', String(await listening(service)), '--json']
  const svc = runSvc(home, [...args, '--relay', silent.origin, '--ca', silent.caFile])
  const { tcp_address } = await reported(svc, 'online')
  const visitor = connect(Number(tcp_address!.split(':').at(-1)), '127.0.0.1')
  sendForEver(visitor.pause())
  await once(service, 'connection')
  await once(visitor, 'readable')
  process.kill(silent.pid(), 'SIGSTOP')
  svc.child.kill('SIGTERM')
  await once(svc.child, 'exit')
  process.kill(silent.pid(), 'SIGCONT')
  visitor.destroy()
  service.close()
  await silent.close()
})

function at(): string[] {
  return ['--relay', relay.origin, '--ca', relay.caFile]
}

function sendForEver(socket: Socket): void {
  socket.on('error', () => {})
  const more = (): void => {
    while (!socket.destroyed && socket.write(BLOCK)) {}
  }
  socket.on('drain', more)
  more()
}

/** @param visit returns the visitor's TCP connection, and what the service sends there */
async function visitAndLeave(visit: () => [tcp: Socket, content: Socket]): Promise<void> {
  let served = 0
  for (let done = 0; done < VISITORS; done += BATCH)
    await Promise.all(
      Array.from({ length: BATCH }, async (_, index) => {
        const [visitor, content] = visit()
        for (const socket of [visitor, content]) socket.on('error', () => {})
        const left = once(visitor, 'close')
        await once(content, 'data').then(
          () => (served += 1),
          () => {},
        )
        LEAVING[index % LEAVING.length]!(visitor)
        await left
      }),
    )
  expect(served).toBeGreaterThan(VISITORS / 2)
}

/** Waits until nobody has a socket whose one end is at one of the ports, and which is not the listener's. */
async function expectNoConnections(ports: number[]): Promise<void> {
  await expect.poll(() => connectionsAt(ports)).toEqual([])
}

/** @returns `local remote state` of each TCP connection that has a descriptor, of this network namespace */
async function connectionsAt(ports: number[]): Promise<string[]> {
  const LISTEN = '0A'
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8')))
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote, state, , , , , , inode]) => {
      const isThere = state !== LISTEN && inode !== '0'
      return (
        isThere && [local, remote].some((end) => ports.includes(Number.parseInt(end!.split(':')[1]!, 16)))
      )
    })
    .map(([, local, remote, state]) => `${local} ${remote} ${state}`)
}
