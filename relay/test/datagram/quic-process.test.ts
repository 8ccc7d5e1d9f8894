// Tests the QUIC process of a real relay: its rights, and the end of the process or of the relay.

import { spawn } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DATAGRAM_WAIT_MAX_MS } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, test as every, expect, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { restrictions } from '../../src/features/datagrams/spawn-quic-process.ts'
import { parseExposition } from '../support/exposition.ts'
import { childrenOf, foundInMemory, isThere } from '../support/processes.ts'
import { startTestRelay } from '../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../support/relay-process.ts'
import { openTunnel, type TestTunnel, visitorOf } from '../support/tunnel.ts'

const test = wholeOnly(every, 'faults')

const ADMIN_TOKEN = 'an-administrator-token-of-this-test'
// relays start as processes of their own here, each with another one
const isRoot = process.getuid?.() === 0

let relay: RelayProcess
let first: number
beforeAll(async () => {
  first = await freeRange(5)
  relay = await startRelayProcess({
    ADMIN_TOKEN,
    METRICS_ADDR: `${first + 4}`,
    UDP_ENABLED: 'true',
    MIN_PORT: `${first}`,
    MAX_PORT: `${first + 3}`,
  })
})
afterAll(() => relay.close())

const open: { close(): unknown }[] = []
afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))

async function quicProcess(): Promise<number> {
  return await vi.waitFor(async () => {
    const [pid, ...others] = await childrenOf(relay.pid, 'quic-process')
    expect(others).toEqual([])
    expect(pid).toBeDefined()
    return pid!
  })
}

async function tunnelled(token: string): Promise<TestTunnel> {
  const tunnel = await vi.waitFor(() => openTunnel(relay))
  open.push(tunnel)
  expect(await tunnel.hello(token)).toMatchObject({ ok: true })
  return tunnel
}

async function sample(name: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${first + 4}/metrics`)).text()
  return parseExposition(text).get(`svc_relay_${name}`)?.samples.get(`svc_relay_${name}`)
}

describe.skipIf(process.platform !== 'linux')('it has', () => {
  test('nothing of the relay’s environment, and no argument that is secret', async () => {
    const pid = await quicProcess()
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toBe('')
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    expect(command).toContain('--permission')
    expect(command).not.toContain(ADMIN_TOKEN)
    expect(command).not.toContain('PRIVATE')
  })

  test('no key, token or identity of the relay in its memory, but a key of its own', async () => {
    const { directory } = relay
    const identity = JSON.parse(await readFile(join(directory, 'identity.json'), 'utf8')).private_key
    const keys = await Promise.all(
      ['privatekey.pem', 'ca-key.pem'].map((file) => readFile(join(directory, file), 'utf8')),
    )
    const scalars = keys.map((pem) =>
      Buffer.from(createPrivateKey(pem).export({ format: 'jwk' }).d!, 'base64url'),
    )
    const identityBytes = Buffer.from(identity.replace(/^0x/, ''), 'hex')
    const secrets = {
      identity: identityBytes,
      'identity as text': Buffer.from(identity),
      'shared key': scalars[0]!,
      // OpenSSL keeps numbers with their last byte first, on every machine that runs this
      'shared key as a number': Buffer.from(scalars[0]!.toReversed()),
      'shared key as text': Buffer.from(keys[0]!.split('\n')[1]!),
      'key of the CA': scalars[1]!,
      'key of the CA as a number': Buffer.from(scalars[1]!.toReversed()),
      'administrator token': Buffer.from(ADMIN_TOKEN),
      certificate: Buffer.from('svc development certificate'),
    }
    expect(await foundInMemory(await quicProcess(), secrets)).toEqual(['certificate'])
    // they are all there where they belong, or the search would not find anything
    const found = await foundInMemory(relay.pid, secrets)
    expect(found).toContain('administrator token')
    expect(found).toContain('shared key as a number')
  })

  test('a certificate for the relay’s host alone', async () => {
    const session = await openTunnel(relay)
    open.push(session)
    await expect(openTunnel(relay, undefined, 'x.relay.localhost')).rejects.toThrow()
  })

  test.skipIf(!isRoot)(
    'the rights of nobody, in all its threads, where the relay was started by root',
    async () => {
      const pid = await quicProcess()
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Groups:\t ?$/m)
      expect(status).toMatch(/^CapEff:\t0+$/m)
    },
  )
})

test('its JavaScript reads code and nothing else, starts no process and opens no connection', async () => {
  const attempts = `
    const tried = async (what, act) => {
      try { await act(); console.log(what, 'allowed') } catch (error) { console.log(what, error.code ?? error.cause?.code) }
    }
    const fs = await import('node:fs/promises')
    await tried('state', () => fs.readFile(${JSON.stringify(join(relay.directory, 'identity.json'))}))
    await tried('passwd', () => fs.readFile('/etc/passwd'))
    await tried('write', () => fs.writeFile('/tmp/written-by-the-quic-process', ''))
    await tried('code', () => fs.readFile(${JSON.stringify(join(import.meta.dirname, '../../package.json'))}))
    await tried('process', async () => (await import('node:child_process')).spawnSync('true'))
    await tried('thread', async () => new (await import('node:worker_threads')).Worker('', { eval: true }))
  `
  const child = spawn(process.execPath, [...restrictions(), '--input-type=module', '--eval', attempts], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  await once(child, 'close')
  const denied = ['state', 'passwd', 'write', 'process', 'thread']
  for (const what of denied) expect(output).toContain(`${what} ERR_ACCESS_DENIED`)
  expect(output).toContain('code allowed')
})

test('without UDP there is no such process', async () => {
  const plain = await startTestRelay()
  open.push(plain)
  expect(await childrenOf(process.pid, 'quic-process')).toEqual([])
})

test('behind a process that stalls, what waited too long is dropped and counted, and the present passes', async () => {
  const lease = await relay.register('stalled', { udp_enabled: true })
  const tunnel = await tunnelled(lease.access_token)
  const visitor = visitorOf(Number(lease.udp_addr?.split(':').at(-1)))
  open.push(visitor.socket)
  await vi.waitUntil(() => {
    visitor.send('before')
    return tunnel.datagrams.length > 0
  })
  const dropped = await tooOld()
  const pid = await quicProcess()
  process.kill(pid, 'SIGSTOP')
  try {
    for (let count = 0; count < 20; count += 1) visitor.send('past')
    // the relay has read them before it answers this
    await tooOld()
    // far longer than a datagram may wait
    await setTimeout(5 * DATAGRAM_WAIT_MAX_MS)
    tunnel.datagrams.length = 0
    visitor.send('present')
    // and this one
    await tooOld()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  // On a slow machine the first one waited too long as well.
  await vi.waitUntil(() => {
    visitor.send('present')
    return tunnel.datagrams.length > 0
  })
  const present = Buffer.from('present').toString('hex')
  expect(new Set(tunnel.datagrams.map((bytes) => bytes.slice(2)))).toEqual(new Set([present]))
  await vi.waitUntil(async () => (await tooOld()) >= dropped + 20)
})

async function tooOld(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${first + 4}/metrics`)).text()
  const name = 'svc_relay_datagrams_dropped_total'
  return parseExposition(text).get(name)?.samples.get(`${name}{reason="too_old"}`) ?? 0
}

describe('when it dies', () => {
  test('the relay lives on and says so, and the tunnel comes back to the same lease, port and flows', async () => {
    const lease = await relay.register('game', { udp_enabled: true })
    const before = await tunnelled(lease.access_token)
    const port = Number(lease.udp_addr?.split(':').at(-1))
    const visitor = visitorOf(port)
    open.push(visitor.socket)
    visitor.send('a')
    await vi.waitUntil(() => before.datagrams.length === 1)
    expect(await sample('datagram_endpoint_up')).toBe(1)
    const failures = (await sample('datagram_endpoint_failures_total'))!
    const pid = await quicProcess()
    process.kill(pid, 'SIGKILL')
    const degraded = await vi.waitFor(async () => {
      const health = await relay.call('GET', '/api/healthz')
      expect(health.status).toBe(200)
      expect(health.json.data).toMatchObject({ status: 'degraded' })
      return health.json.data
    })
    expect(degraded).toMatchObject({ message: 'datagram tunnels are down: UDP ports reach no site' })
    const after = await tunnelled(lease.access_token)
    expect(await quicProcess()).not.toBe(pid)
    await vi.waitUntil(() => {
      visitor.send('b')
      return after.datagrams.length > 0
    })
    expect(after.datagrams[0]).toBe(`01${Buffer.from('b').toString('hex')}`)
    expect((await relay.call('GET', '/api/healthz')).json.data).toEqual({ status: 'ok' })
    expect(await sample('datagram_endpoint_up')).toBe(1)
    expect(await sample('datagram_endpoint_failures_total')).toBe(failures + 1)
    expect(relay.log.map(({ msg }) => msg)).toContain(
      'the QUIC process ended: datagram tunnels are closed, it is started again',
    )
  })
})

test('it dies with its relay, also when that is killed', async () => {
  const pid = await quicProcess()
  expect(isThere(pid)).toBe(true)
  relay.kill('SIGKILL')
  await relay.ended
  await vi.waitUntil(() => !isThere(pid))
})
