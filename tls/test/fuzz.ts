// Fuzz target: damaged hellos, records and messages, before and after the keys. No crash, no hang, only alerts.

import type { ServerConfig } from '../src/index.ts'
import { signAlgorithmOf, TicketKeeper } from '../src/index.ts'
import {
  ClientHelloReader,
  DecodeError,
  parseCertificate,
  parseClientHello,
  parseEncryptedExtensions,
  parseServerHello,
  TlsError,
} from '../src/messages/index.ts'
import { concat } from '../src/messages/writer.ts'
import { ext, records } from './client-hello-builder.ts'
import { hex } from './hex.ts'
import { RawClient, TYPE, until } from './raw-client.ts'
import { syncCrypto } from './sync-crypto.ts'
import trace from './vectors/rfc8448-section3.json' with { type: 'json' }

/** Longer than any run may take. */
const HANG_MS = 2000

const MESSAGES = [trace.clientHello, trace.serverHello, trace.encryptedExtensions, trace.certificate].map(hex)
const PARSERS = [
  parseClientHello,
  parseServerHello,
  parseEncryptedExtensions,
  parseCertificate,
  signAlgorithmOf,
]

/** A signature nobody checks: the raw client does not. */
const config: ServerConfig = {
  certificateChain: [hex(trace.certificate).slice(11, 11 + 0x1b0)],
  algorithm: 'ECDSA_SHA256',
  alpn: ['http/1.1'],
  sign: () => new Uint8Array(70),
  tickets: new TicketKeeper({ crypto: syncCrypto }),
  crypto: syncCrypto,
}

/** mulberry32: small, and the same on every machine. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

type Random = ReturnType<typeof random>

/** Flips, cuts, repeats or inserts, once to four times. */
function mutate(bytes: Uint8Array, below: Random): Uint8Array {
  let result: Uint8Array = bytes.slice()
  for (let i = below(4); i >= 0; i--) {
    const at = below(result.length + 1)
    const length = 1 + below(8)
    const kind = below(5)
    if (kind === 0 && at < result.length) result[at] = below(256)
    else if (kind === 1 && at < result.length) result[at] = [0, 1, 0x7f, 0xff][below(4)]!
    else if (kind === 2) result = concat(result.subarray(0, at), result.subarray(at + length))
    else if (kind === 3)
      result = concat(result.subarray(0, at), result.subarray(0, length), result.subarray(at))
    else result = concat(result.subarray(0, at), result.subarray(Math.max(0, at - length)))
  }
  return result
}

function someHello(client: RawClient, below: Random): Uint8Array {
  const extras: [number, Uint8Array][] = [
    ext.alpn('http/1.1', 'h2'),
    ext.recordSizeLimit(64 + below(1000)),
    ext.earlyData(),
    ext.preSharedKey([new Uint8Array(40).fill(below(256))], [new Uint8Array(32)]),
  ]
  const retry = below(4) === 0 ? [ext.keyShare(), ext.supportedGroups(0x0017)] : []
  const chosen = extras.filter(() => below(2) === 0)
  return client.hello({ extensions: client.extensions(...retry, ...chosen) })
}

/** Pushes bytes in pieces of random sizes. */
function push(client: RawClient, bytes: Uint8Array, below: Random): void {
  const most = 1 + below(bytes.length + 1)
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + below(most)
    client.raw(bytes.subarray(at, at + size))
    at += size
  }
}

type Scenario = (client: RawClient, below: Random) => Promise<void>

const SCENARIOS: Scenario[] = [
  async function damagedHello(client, below) {
    client.deaf = true
    push(client, records(TYPE.handshake, mutate(someHello(client, below), below), 1 + below(300)), below)
  },
  async function damagedRecords(client, below) {
    client.deaf = true
    push(client, mutate(records(TYPE.handshake, someHello(client, below)), below), below)
  },
  async function damagedFinished(client, below) {
    client.sendHello()
    await client.flight()
    client.send([20, 21, 22, 22, 22, 23][below(6)]!, mutate(client.finished(), below), below(20))
  },
  async function damagedCiphertext(client, below) {
    await client.connect()
    const good = Array.from({ length: 3 }, () => client.record(TYPE.data, new Uint8Array(below(50))))
    push(client, mutate(concat(...good), below), below)
  },
  async function damagedContent(client, below) {
    await client.connect()
    const contents = [hex('1800000101'), hex('0100'), hex('0250'), hex('04000000'), new Uint8Array(below(20))]
    for (let i = below(8); i >= 0; i--)
      client.send(20 + below(5), mutate(contents[below(contents.length)]!, below), below(4))
  },
]

async function runScenario(below: Random): Promise<void> {
  const client = new RawClient(config)
  await SCENARIOS[below(SCENARIOS.length)]!(client, below)
  // The engine may still wait for the rest of a record: then the client leaves.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  client.server.receiveEnd()
  if (client.ended) void client.server.end()
  await until(() => client.closed, HANG_MS)
  if (client.error !== undefined && !(client.error instanceof TlsError)) throw client.error
  if (client.error?.code === 'internal_error') throw client.error
  if (client.alerts.length > 1) throw new Error(`several alerts: ${client.alerts}`)
}

function runParsers(below: Random): void {
  const message = mutate(MESSAGES[below(MESSAGES.length)]!, below)
  if (message.length > 4 && below(2) === 0)
    new DataView(message.buffer, message.byteOffset).setUint32(0, message.length - 4 + (message[0]! << 24))
  for (const parse of PARSERS) expectOnly(TlsError, () => parse(message))
  expectOnly(DecodeError, () =>
    new ClientHelloReader({ maxBytes: 1000 }).push(records(22, message, 1 + below(100))),
  )
}

function expectOnly(type: typeof TlsError | typeof DecodeError, run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof type)) throw error
  }
}

/** The same seed gives the same inputs; a failure names the seed of its run. */
export async function fuzz(seconds: number, seed: number): Promise<{ runs: number }> {
  const end = performance.now() + seconds * 1000
  let runs = 0
  while (performance.now() < end) {
    const runSeed = seed + runs
    runs++
    try {
      const below = random(runSeed)
      runParsers(below)
      await runScenario(below)
    } catch (cause) {
      throw new Error(`fuzz failed with seed ${runSeed}`, { cause })
    }
  }
  return { runs }
}
