// The answer to `GET /discovery` at its fullest, and what of other relays' answers gets into it.

import { gzipSync } from 'node:zlib'
import { DESCRIPTOR_SIGNATURE_BYTES, DISCOVERY_VERSION } from '@svc/protocol'
import { expect, test, vi } from 'vitest'
import { now } from '../../src/core/clock.ts'
import { createLog } from '../../src/core/log/log.ts'
import { readDescriptor } from '../../src/features/discovery/descriptor-rules.ts'
import { DescriptorSignatures } from '../../src/features/discovery/descriptor-signatures.ts'
import { RelayDiscovery } from '../../src/features/discovery/discovery.ts'
import { IncompatibleRelays } from '../../src/features/discovery/incompatible-relays.ts'
import { DISCOVERY_LIMITS, LIST_MAX_BYTES } from '../../src/features/discovery/limits.ts'
import { OwnDescriptor } from '../../src/features/discovery/own-descriptor.ts'
import { RelayQueries } from '../../src/features/discovery/relay-queries.ts'
import { inventRelay } from '../support/descriptors.ts'

const ORIGIN = 'https://relay.example'
/** As JSON it has 23 characters. */
const LONG_NUMBER = Math.PI / 1e300
const OWN_STATE = { udp: false, tcp: true, connections: 0, bytes: 0 }

test('1,024 relays with the longest fields make an answer that every relay reads', async () => {
  const own = new OwnDescriptor(ORIGIN, inventRelay(), () => OWN_STATE)
  let onIncompatible: (origin: string, version: string) => void = () => {}
  const discovery = new RelayDiscovery({
    own,
    bootstraps: new Set(),
    allowsLoopback: false,
    isBanned: () => false,
    signatures: new DescriptorSignatures(async () => undefined),
    recoverSigner: async () => undefined,
    queries: (listener) => {
      onIncompatible = listener
      return {} as RelayQueries
    },
    limits: DISCOVERY_LIMITS,
    signal: new AbortController().signal,
    log: createLog('silent'),
  })
  const origin = (index: number): string => {
    const end = `${`${index}`.padStart(4, '0')}.example:65535`
    return `https://${`${'x'.repeat(60)}.`.repeat(4).slice(0, 256 - 'https://'.length - end.length - 1)}x${end}`
  }
  for (let index = 0; index < 1024; index++) {
    const descriptor = {
      address: `0x${index.toString(16).padStart(40, '0')}`,
      version: 'v'.repeat(96),
      issued_at: new Date().toISOString().replace('Z', '123456+00:00'),
      expires_at: new Date(Date.now() + 300_000).toISOString().replace('Z', '123456+00:00'),
      api_https_addr: origin(index),
      wireguard_public_key: 'k'.repeat(96),
      wireguard_port: 65_535,
      supports_overlay: false,
      supports_udp: false,
      supports_tcp: false,
      active_connections: Number.MAX_SAFE_INTEGER,
      tcp_bps: LONG_NUMBER,
      signature: Buffer.alloc(DESCRIPTOR_SIGNATURE_BYTES, 255).toString('base64'),
    }
    const read = readDescriptor(descriptor, false)
    expect(read.descriptor.api_https_addr).toHaveLength(256)
    discovery.relays.confirm(read, { network: `${index}`, release: `1.2.3-${'a'.repeat(58)}` }, now())
    onIncompatible(origin(index), '9'.repeat(32))
  }
  const answer = discovery.answer(await own.current(), true)
  expect(answer.relays).toHaveLength(1025)
  expect(answer.incompatible_relays).toHaveLength(64)
  expect(Buffer.byteLength(JSON.stringify({ ok: true, data: answer }))).toBeLessThan(LIST_MAX_BYTES)
  const { relays } = await queriesOf(answer).list(ORIGIN, true, false)
  expect(relays).toHaveLength(1025)
})

test('of 65 incompatible relays that which was seen longest ago is forgotten', () => {
  const relays = new IncompatibleRelays()
  for (let index = 0; index < 64; index++) relays.add(`https://r${index}.example`, '9')
  relays.add('https://r0.example', '8')
  relays.add('https://r64.example', '9')
  expect(relays.list).toHaveLength(64)
  expect(relays.list.map(({ url }) => url)).not.toContain('https://r1.example')
  expect(relays.list.at(-2)).toMatchObject({ url: 'https://r0.example', protocol_version: '8' })
  relays.remove('https://r0.example')
  expect(relays.list).toHaveLength(63)
})

/** A relay that answers with `data`. */
function queriesOf(data: unknown, onIncompatible = vi.fn()): RelayQueries {
  return queriesFor(Buffer.from(JSON.stringify({ ok: true, data })), onIncompatible)
}

function queriesFor(body: Buffer, onIncompatible = vi.fn(), headers = {}): RelayQueries {
  const url = new URL(ORIGIN)
  const request = async () => ({ url, address: '192.0.2.1', status: 200, headers, body })
  return new RelayQueries({ request }, new Set(), onIncompatible, new AbortController().signal)
}

test.each([
  ['1.2.3', '1.2.3'],
  [`1.2.3-${'a'.repeat(59)}`, ''],
  ['<b>new</b>', ''],
  [7, ''],
])('the release %j is passed on as %j', async (release_version, release) => {
  const data = { protocol_version: DISCOVERY_VERSION, relays: [], release_version }
  expect(await queriesOf(data).list(ORIGIN, true, false)).toEqual({
    relays: [],
    release,
    network: '192.0.2.0/24',
  })
})

test.each([['x'.repeat(33)], [10], [undefined]])('the protocol version %j is no version', async (version) => {
  const onIncompatible = vi.fn()
  const queries = queriesOf({ protocol_version: version, relays: [] }, onIncompatible)
  await expect(queries.list(ORIGIN, true, false)).rejects.toMatchObject({ reason: 'bad_answer' })
  expect(onIncompatible).not.toHaveBeenCalled()
})

test.each([
  ['nested', `${'['.repeat(900_000)}${']'.repeat(900_000)}`],
  ['in an object', `{${Array.from({ length: 150_000 }, (_, index) => `"k${index}":0`).join()}}`],
])('a million values %s are not parsed', async (_what, relay) => {
  const body = Buffer.from(`{"data":{"protocol_version":"10","relays":[${relay}]}}`)
  expect(body.length).toBeLessThan(LIST_MAX_BYTES)
  const parse = vi.spyOn(JSON, 'parse')
  await expect(queriesFor(body).list(ORIGIN, true, false)).rejects.toMatchObject({ reason: 'too_large' })
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
})

test('a list may come compressed, but a small answer is not a large list', async () => {
  const data = { protocol_version: DISCOVERY_VERSION, relays: [], release_version: '1.2.3' }
  const gzip = { 'content-encoding': 'gzip' }
  const compressed = (text: string, headers: object = gzip) => queriesFor(gzipSync(text), vi.fn(), headers)
  const text = JSON.stringify({ ok: true, data })
  expect(await compressed(text).list(ORIGIN, true, false)).toMatchObject({ release: '1.2.3' })
  const bomb = compressed(`${text}${' '.repeat(LIST_MAX_BYTES)}`)
  await expect(bomb.list(ORIGIN, true, false)).rejects.toMatchObject({ reason: 'too_large' })
  for (const broken of [
    compressed(text, { 'content-encoding': 'br' }),
    queriesFor(Buffer.from('?'), vi.fn(), gzip),
  ])
    await expect(broken.list(ORIGIN, true, false)).rejects.toMatchObject({ reason: 'bad_answer' })
})

test('of a list of any length 1,025 descriptors are looked at', async () => {
  const data = {
    protocol_version: DISCOVERY_VERSION,
    relays: Array.from({ length: 5_000 }, (_, index) => index),
  }
  expect((await queriesOf(data).list(ORIGIN, true, false)).relays).toHaveLength(1025)
})
