// The relay keeps and awaits a bounded amount of external providers, whatever they answer.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as every, expect, onTestFinished, vi } from 'vitest'
import { ApiError, oneLine } from '../../../../dns/src/providers/api-error.ts'
import {
  ACTION_POLLS_MAX,
  ATTEMPTS_MAX,
  MESSAGE_MAX_CHARS,
  PAGES_MAX,
  PAUSE_MAX_MS,
} from '../../../../dns/src/providers/limits.ts'
import { retrying } from '../../../../dns/src/providers/retry.ts'
import { within } from '../../../../dns/src/providers/within.ts'
import { cloudflare } from '../../../../dns/test/providers/fakes/cloudflare.ts'
import { json } from '../../../../dns/test/providers/fakes/fake-api.ts'
import { gcloud } from '../../../../dns/test/providers/fakes/gcloud.ts'
import { hetzner } from '../../../../dns/test/providers/fakes/hetzner.ts'
import { vultr } from '../../../../dns/test/providers/fakes/vultr.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { DnsProviderError } from '../../../src/features/dns/provider.ts'
import { JOURNAL_RECORDS_MAX, JOURNAL_RECORDS_RESERVED } from '../../../src/features/dns/providers/limits.ts'
import { RECORD_JOURNAL_FILE, RecordJournal } from '../../../src/features/dns/providers/record-journal.ts'
import { ROOT_HOST, start } from './harness.ts'

const test = wholeOnly(every, 'variant')

const CHALLENGE = `_acme-challenge.${ROOT_HOST}`

test('the journal takes so many records, and a refused one is not in it', async () => {
  const path = await mkdtemp(join(tmpdir(), 'dns-records-'))
  onTestFinished(() => rm(path, { recursive: true }))
  const journal = await RecordJournal.open(path)
  const record = (value: number) =>
    ({ provider: 'vultr', zone: 'example.com', name: ROOT_HOST, type: 'TXT', value: `${value}` }) as const
  await journal.add(
    Array.from({ length: JOURNAL_RECORDS_MAX }, (_, index) => record(index)),
    'relay',
  )
  await journal.add([record(0)], 'relay')
  await expect(journal.add([record(-1)], 'relay')).rejects.toMatchObject({ fault: 'unavailable' })
  expect(journal.has(record(-1))).toBe(false)
  await journal.remove([record(0)])
  await journal.add([record(-1)], 'relay')
  const again = await RecordJournal.open(path)
  expect(again.recordsOf('vultr', 'example.com')).toHaveLength(JOURNAL_RECORDS_MAX)
  expect([again.has(record(0)), again.has(record(-1))]).toEqual([false, true])
})

test('a crowd of sites leaves room for challenges and the relay’s own addresses, and its own follow the relay’s', async () => {
  const { restart, api, identityPath } = await start(vultr)
  const name = `demo.${ROOT_HOST}`
  const first = { provider: 'vultr', zone: 'example.com', name, type: 'A', value: '192.0.2.1' }
  api.zone.add(name, 'A', '192.0.2.1')
  const others = Array.from({ length: JOURNAL_RECORDS_MAX - JOURNAL_RECORDS_RESERVED - 1 }, (_, index) => ({
    ...first,
    name: `site${index}.${ROOT_HOST}`,
  }))
  const file = { version: 1, records: [first, ...others] }
  await writeFile(join(identityPath, RECORD_JOURNAL_FILE), JSON.stringify(file))
  const provider = await restart()
  await provider.addTxt(CHALLENGE, 'one')
  const addresses = { ipv4: ['192.0.2.2'], ipv6: [] }
  for (const host of [ROOT_HOST, `*.${ROOT_HOST}`, name]) await provider.setAddresses(host, addresses)
  expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"'])
  for (const host of [ROOT_HOST, `*.${ROOT_HOST}`, name])
    expect(api.zone.data(host, 'A')).toEqual(['192.0.2.2'])
  const asked = api.requests.length
  await expect(provider.addTxt(name, 'ENS1 0x0')).rejects.toMatchObject({ fault: 'full' })
  await expect(provider.setAddresses(`late.${ROOT_HOST}`, addresses)).rejects.toMatchObject({ fault: 'full' })
  expect(api.requests).toHaveLength(asked)
})

test.each([
  ['Cloudflare', cloudflare, { result: [], result_info: { total_pages: 1e9 } }],
  ['Vultr', vultr, { records: [], meta: { links: { next: 'again' } } }],
])('%s cannot lead the relay through pages without end', async (_, dialect, page) => {
  const { provider, api } = await start(dialect)
  await provider.removeTxt(CHALLENGE, 'none')
  api.requests.length = 0
  api.faults.push({ kind: json(page), at: 'read', times: Number.POSITIVE_INFINITY })
  await expect(provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({ fault: 'unavailable' })
  expect(api.requests).toHaveLength(PAGES_MAX)
})

test('Google cannot lead the search for the zone through pages without end', async () => {
  const { provider, api } = await start(gcloud, {
    before: ({ faults }) =>
      faults.push({ kind: json({ nextPageToken: 'again' }), times: Number.POSITIVE_INFINITY }),
  })
  await expect(provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({ fault: 'wrong_zone' })
  // the names relay.example.com and example.com, at the start and for the change
  expect(api.requests).toHaveLength(2 * 2 * PAGES_MAX)
})

test('an action that never ends is asked about so often', async () => {
  const { provider, api } = await start(hetzner)
  await provider.removeTxt(CHALLENGE, 'none')
  api.requests.length = 0
  const running = json({ action: { id: 1, status: 'running', error: null } })
  api.faults.push(
    { kind: json({ error: { code: 'not_found', message: 'no' } }, 404), at: 'read' },
    { kind: running, at: 'read', times: ACTION_POLLS_MAX },
    { kind: json({ error: { code: 'forbidden', message: 'no more' } }, 403), at: 'read' },
  )
  await expect(provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({ fault: 'unauthorized' })
  expect(api.requests).toHaveLength(2 + ACTION_POLLS_MAX + 1)
})

test('requests begin no faster than the provider takes them', async () => {
  const pauseMs = 20
  const { provider, api } = await start(vultr, { pauseMs })
  const startedAt = performance.now()
  await Promise.all(['a', 'b', 'c'].map((value) => provider.addTxt(CHALLENGE, value)))
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual((api.requests.length - 2) * pauseMs)
})

test('a provider that says nothing delays neither the question whether it can answer nor its end', async () => {
  const { provider } = await start(vultr, {
    before: ({ faults }) => faults.push({ kind: 'silent', times: Number.POSITIVE_INFINITY }),
  })
  const closing = new AbortController()
  const answer = provider.canAnswer(closing.signal)
  const change = provider.addTxt(CHALLENGE, 'one', closing.signal)
  closing.abort()
  expect(await answer).toBe(false)
  await expect(change).rejects.toBeInstanceOf(DnsProviderError)
  await provider.close()
})

test('an error is one line without control characters and secrets, and not long', () => {
  expect(oneLine('a\r\n\u2028b\u001b[31m secret-1 \u0000', ['secret-1', ''])).toBe('a   b [31m …')
  expect(oneLine('x'.repeat(1e6), [])).toHaveLength(MESSAGE_MAX_CHARS + 1)
})

test('attempts end, and a long pause is left to the caller', async () => {
  const attempt = vi.fn(async () => {
    throw new ApiError('unavailable', 'down', { isRetryable: true })
  })
  const { signal } = new AbortController()
  await expect(retrying(attempt, signal, 1)).rejects.toThrow('down')
  expect(attempt).toHaveBeenCalledTimes(ATTEMPTS_MAX)
  for (const options of [{ isRetryable: true, retryAfterMs: PAUSE_MAX_MS + 1 }, { isRetryable: false }]) {
    const once = vi.fn(async () => {
      throw new ApiError('rate_limited', 'later', options)
    })
    await expect(retrying(once, signal, 1)).rejects.toThrow('later')
    expect(once).toHaveBeenCalledOnce()
  }
})

test('a pause may be a moment, and nonsense is none', async () => {
  const { provider, api } = await start(vultr)
  const later = new Date(Date.now() + 2 * 3_600_000).toUTCString()
  api.faults.push({ kind: 'rate_limited', at: 'change', headers: { 'retry-after': later } })
  const error: DnsProviderError = await provider.addTxt(CHALLENGE, 'one').catch((reason) => reason)
  expect(error.fault).toBe('rate_limited')
  expect(error.retryAfterMs).toBeGreaterThan(3_600_000)
  expect(error.retryAfterMs).toBeLessThanOrEqual(2 * 3_600_000)
  api.faults.push({ kind: 'rate_limited', at: 'change', headers: { 'retry-after': '-1e9 soon' } })
  await provider.addTxt(CHALLENGE, 'one')
})

test('a library that does not answer is awaited for a bounded time', async () => {
  const asked = within(5, new Promise(() => {}), 'no token')
  await expect(asked).rejects.toMatchObject({
    fault: 'unavailable',
    message: 'no token: no answer within 0.005 s',
  })
})
