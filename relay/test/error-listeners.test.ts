// Tests that every stream, socket, server and child process of a relay has an error listener, in the primary process and in
// a worker process.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, test as every, expect } from 'vitest'
import { captureHello } from '../../tools/network/client-hello.ts'
import { freeRange } from '../../tools/network/free-port.ts'
import { wholeOnly } from '../../tools/test-depth.ts'
import { UPGRADE_HEADERS } from './support/api-socket.ts'
import { openCarrier } from './support/carrier.ts'
import { ROOT_HOST } from './support/relay.ts'
import { type RelayProcess, startRelayProcess } from './support/relay-process.ts'
import { nativeSession } from './support/session.ts'
import { openTunnel } from './support/tunnel.ts'

const test = wholeOnly(every, 'depth')

const AUDIT = join(import.meta.dirname, 'support/emitter-audit.ts')
const PORTS = 4
/** So that both processes have some. */
const TRIES = 5
/** Some looks of the audit. */
const LOOK_MS = 100

let directory: string
let metrics: string
let relay: RelayProcess
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-audit-'))
  await writeFile(join(directory, 'index.html'), Buffer.alloc(16 * 1024 * 1024))
  await writeFile(join(directory, 'found.jsonl'), '')
  const first = await freeRange(PORTS + 1)
  metrics = `http://127.0.0.1:${first + PORTS}/metrics`
  relay = await startRelayProcess(
    {
      SVC_WORKERS: '2',
      SVC_SITE_DIR: directory,
      METRICS_ADDR: `${first + PORTS}`,
      TCP_ENABLED: 'true',
      UDP_ENABLED: 'true',
      MIN_PORT: `${first}`,
      MAX_PORT: `${first + PORTS - 1}`,
      AUDIT_FILE: join(directory, 'found.jsonl'),
    },
    { execArgv: [`--import=${AUDIT}`] },
  )
})
afterAll(async () => {
  await relay.close()
  await rm(directory, { recursive: true })
})

async function findings(): Promise<string[]> {
  const lines = (await readFile(join(directory, 'found.jsonl'), 'utf8')).split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line))
}

/** A visitor who says `bytes`, stays for a while and leaves without a word. */
async function visit(port: number, bytes: Uint8Array): Promise<void> {
  const visitor = connect({ host: '127.0.0.1', port }).on('error', () => {})
  visitor.write(bytes)
  await setTimeout(LOOK_MS)
  visitor.resetAndDestroy()
}

/** A download whose client reads nothing for a while, and leaves. */
async function download(): Promise<void> {
  const client = relay.tls(ROOT_HOST)
  client.write(`GET / HTTP/1.1\r\nHost: ${ROOT_HOST}:${relay.port}\r\n\r\n`)
  await once(client, 'secureConnect')
  await setTimeout(LOOK_MS)
  client.destroy()
}

test('nothing is without one while a relay is used in every way', async () => {
  const lease = await relay.register('audited', { tcp_enabled: true, udp_enabled: true })
  const { capability } = lease.reverse_endpoint
  const [tcpPort, udpPort] = [lease.tcp_addr, lease.udp_addr].map((address) => Number(address?.split(':')[1]))
  const tunnel = await openTunnel(relay)
  await tunnel.hello(lease.access_token)
  createSocket('udp4').unref().send('hello', udpPort!, '127.0.0.1')
  const hello = await captureHello(lease.hostname)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const carrier = await openCarrier(relay, capability)
    await carrier.open(capability)
    await visit(relay.port, hello)
    const native = await nativeSession(relay, capability, UPGRADE_HEADERS)
    native.closed.catch(() => {})
    await visit(tcpPort!, Buffer.from('hello'))
    await visit(relay.port, await captureHello(`nobody.${ROOT_HOST}`))
    await visit(relay.port, Buffer.from('GET / HTTP/1.1\r\n'))
    await download()
    expect(await relay.call('GET', '/sdk/connect')).toMatchObject({ json: { ok: false } })
    expect(await relay.call('POST', '/sdk/renew', '{')).toMatchObject({ status: 400 })
    carrier.socket.terminate()
  }
  expect((await fetch(metrics)).status).toBe(200)
  await tunnel.close()
  await setTimeout(LOOK_MS)
  expect(await findings()).toEqual([])
})
