// A search for relays over a network of relays that answer as these tests say: what a hostile list costs, and what is believed.

import type { RelayDescriptor } from '@svc/protocol'
import * as protocol from '@svc/protocol'
import { beforeEach, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/control/relay-client.ts'
import { signerOf } from '../../src/identity/key.ts'
import {
  DESCRIPTORS_READ_MAX,
  DISCOVERED_PROBES_MAX,
  LIST_MAX_BYTES,
  PROBES_PARALLEL_MAX,
  SIGNATURES_CHECKED_MAX,
} from '../../src/relays/limits.ts'
import { type SearchRequest, type SearchResult, searchRelays } from '../../src/relays/search.ts'
import { describeRelay } from '../support/relay-descriptors.ts'

vi.mock('@svc/protocol', async (original) => {
  const real = await original<typeof protocol>()
  return {
    ...real,
    parseDescriptor: vi.fn(real.parseDescriptor),
    verifyDescriptor: vi.fn(real.verifyDescriptor),
  }
})

const ASKED = new URL('https://relay.example')
let calls: Set<string>
let parallel: { now: number; most: number }
beforeEach(() => {
  calls = new Set()
  parallel = { now: 0, most: 0 }
  vi.mocked(protocol.parseDescriptor).mockClear()
  vi.mocked(protocol.verifyDescriptor).mockClear()
})

/** Every host is a relay, and names these. */
function network(relays: unknown[], more: (host: string) => object = () => ({})): FetchFunction {
  return async (url) => {
    calls.add(new URL(url).host)
    parallel.now += 1
    parallel.most = Math.max(parallel.most, parallel.now)
    await new Promise((resolve) => setTimeout(resolve))
    parallel.now -= 1
    const data = url.endsWith('/discovery') ? { relays } : { release_version: '0.1.0' }
    return Response.json({ ok: true, data: { protocol_version: '10', ...data, ...more(new URL(url).host) } })
  }
}

const search = (fetch: FetchFunction, more: Partial<SearchRequest> = {}): Promise<SearchResult> =>
  searchRelays({
    asked: [ASKED],
    wanted: { tcp: false, udp: false },
    fetch,
    signerOf,
    isExcluded: () => false,
    ...more,
  })
const hostsOf = ({ found }: SearchResult): string[] => found.map(({ url }) => url.host).toSorted()
const describeAll = (hosts: readonly string[]): RelayDescriptor[] =>
  hosts.map((host) => describeRelay(`https://${host}`))

it('a relay that lets nobody in without an invitation is no candidate: those that are found get none', async () => {
  const hosts = ['closed.example', 'open.example', 'other.example']
  const fetch = network(describeAll(hosts), (host) => ({
    ...(host === 'closed.example' && { invitation: true }),
    // What is not said in these words means nothing.
    ...(host === 'other.example' && { invitation: 'no' }),
  }))
  expect(hostsOf(await search(fetch))).toEqual(['open.example', 'other.example'])
})

it('a relay elsewhere does not lead the SDK into its own network', async () => {
  const ipv6 = ['[::1]', '[fd00::1]', '[::ffff:10.0.0.1]', '[64:ff9b::a00:1]', '[2002:a00:1::1]']
  const ipv4 = ['127.0.0.1', '10.1.2.3', '192.168.1.1', '192.0.2.1', '224.0.0.1']
  const relays = describeAll([...ipv4, ...ipv6, 'a.localhost', 'good.example'])
  expect(hostsOf(await search(network(relays)))).toEqual(['good.example'])
  expect(calls).toEqual(new Set(['relay.example', 'good.example']))
})

it('a relay of this machine may name its neighbours', async () => {
  const result = await search(network(describeAll(['b.localhost'])), {
    asked: [new URL('https://a.localhost')],
  })
  expect(hostsOf(result)).toEqual(['b.localhost'])
})

it('a relay that is slow is not waited for: what answered can be used meanwhile', async () => {
  const relays = describeAll(['slow.example', 'quick.example'])
  const answer: FetchFunction = (url, init) =>
    url.includes('slow')
      ? new Promise((_, reject) => init.signal.addEventListener('abort', () => reject(new Error('late'))))
      : network(relays)(url, init)
  const early = vi.fn()
  expect(hostsOf(await search(answer, { early }))).toEqual(['quick.example'])
  expect(hostsOf({ found: early.mock.calls[0]![0], failures: [] })).toEqual(['quick.example'])
})

it('a long list costs no more probes than a short one, a few at once', async () => {
  const relays = describeAll(Array.from({ length: 2 * DISCOVERED_PROBES_MAX }, (_, at) => `r${at}.example`))
  expect((await search(network(relays))).found).toHaveLength(DISCOVERED_PROBES_MAX)
  expect(calls.size).toBe(1 + DISCOVERED_PROBES_MAX)
  expect(parallel.most).toBe(PROBES_PARALLEL_MAX)
})

it('10,000 forged descriptors cost as many checks as are allowed, and no probe (protocol §14.1.3)', async () => {
  const forgery = { ...describeRelay('https://forged.example'), tcp_bps: 1 }
  // as short as they can be, so that the answer is not too long
  const { address, issued_at, expires_at, api_https_addr, signature, version, tcp_bps } = forgery
  const short = { address, issued_at, expires_at, api_https_addr, signature, version, tcp_bps }
  const fits = Math.min(10_000, Math.floor(LIST_MAX_BYTES / (JSON.stringify(short).length + 1)) - 1)
  expect((await search(network(new Array(fits).fill(short)))).found).toEqual([])
  expect(protocol.verifyDescriptor).toHaveBeenCalledTimes(SIGNATURES_CHECKED_MAX)
  expect(calls).toEqual(new Set(['relay.example']))
})

it('10,000 entries that are no descriptors are not all looked at', async () => {
  expect((await search(network(new Array(10_000).fill({ a: 1 })))).found).toEqual([])
  expect(protocol.parseDescriptor).toHaveBeenCalledTimes(DESCRIPTORS_READ_MAX)
  expect(protocol.verifyDescriptor).not.toHaveBeenCalled()
})

it('an answer that is too long is refused before it has come whole', async () => {
  const endless: FetchFunction = async () => {
    const chunk = new Uint8Array(64 * 1024).fill(32)
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        sent += chunk.length
        expect(sent).toBeLessThanOrEqual(LIST_MAX_BYTES + 2 * chunk.length)
        controller.enqueue(chunk)
      },
    })
    return new Response(body)
  }
  const { found, failures } = await search(endless)
  expect(found).toEqual([])
  expect(failures).toEqual([
    { relay: ASKED.origin, error: expect.objectContaining({ code: 'unexpected_answer' }) },
  ])
})

it('one relay alone does not decide: the lists of all that are asked count', async () => {
  const asked = ['one', 'two'].map((name) => new URL(`https://${name}.example`))
  const answer: FetchFunction = (url, init) =>
    network(describeAll([`${new URL(url).hostname.split('.')[0]}-knows.example`]))(url, init)
  expect(hostsOf(await search(answer, { asked }))).toEqual(['one-knows.example', 'two-knows.example'])
})
