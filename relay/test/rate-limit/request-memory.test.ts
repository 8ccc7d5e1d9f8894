// Tests that requests without a credential take bounded memory, however many clients send how much and then stall.

import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import type { RegisterResponse } from '@svc/protocol'
import { afterAll, beforeAll, beforeEach, describe, test as every, expect, vi } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { newAccount, ROOT_HOST, startTestRelay, type TestClient, type TestRelay } from '../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../support/relay-process.ts'

const test = wholeOnly(every, 'depth')

const KIB = 1024
const MIB = 1024 * KIB
/** So long without an answer: the relay waits for more. */
const SILENCE_MS = 900
/** A relay of its own starts or ends within this, and a test of it, on a machine that has much else to do. */
const PROCESS_DEADLINE_MS = 180_000

interface Upload {
  /** What it says that it sends, in bytes; undefined: chunks, and no end. */
  length?: number
  headers?: string
  /** Address of the client. */
  from?: string
}

/** Sends the head of a request, `body`, and then nothing more. */
async function stall(relay: TestClient, path: string, body: string, upload: Upload = {}): Promise<TLSSocket> {
  const { port, ca } = relay
  const tcp = connectTcp({ host: '127.0.0.1', port, localAddress: upload.from })
  tcp.on('error', () => {})
  const socket = connect({ socket: tcp, ca, servername: ROOT_HOST })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  const { length, headers = '' } = upload
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const head = `POST ${path} HTTP/1.1\r\nHost: ${ROOT_HOST}:${port}\r\nContent-Type: application/json`
  socket.write(`${head}\r\n${headers}${framing}\r\n\r\n`)
  await new Promise((resolve) => {
    socket.write(length === undefined ? `${body.length.toString(16)}\r\n${body}\r\n` : body, resolve)
  })
  return socket
}

/** Status and code of the answer to an upload that stalls. */
async function answerOf(socket: TLSSocket): Promise<string | undefined> {
  let answer = ''
  const complete = Promise.withResolvers<void>()
  socket.once('close', complete.resolve)
  socket.on('data', (bytes: Buffer) => {
    answer += bytes
    if (answer.endsWith('}')) complete.resolve()
  })
  await complete.promise
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? []
  return status && `${status} ${/"code":"(\w+)"/.exec(answer)?.[1]}`
}

async function isWaitedFor(socket: TLSSocket): Promise<boolean> {
  return await Promise.race([answerOf(socket).then(() => false), pause(SILENCE_MS, true)])
}

const metadata = (chars: number) =>
  `{"identity":{"name":"a"},"metadata":{"thumbnail":"data:,${'x'.repeat(chars)}`

describe('hundreds of stalled uploads take little of the relay', () => {
  /** What may be kept of bodies, and beside it the connections, which take some 100 KB each, and garbage: it was 1.1 GiB. */
  const GROWTH_MAX_BYTES = 64 * MIB + 136 * MIB

  let relay: RelayProcess
  /** Resident memory before all of them: what one leaves behind counts against the next. */
  let before: number
  beforeAll(async () => {
    relay = await startRelayProcess()
    before = await relay.memory()
  }, PROCESS_DEADLINE_MS)
  afterAll(() => relay.close(), PROCESS_DEADLINE_MS)

  /** More than the bound on the growth, together. */
  const LARGE_UPLOADS = 60

  const address = (i: number) => `127.0.${1 + Math.floor(i / 200)}.${1 + (i % 200)}`
  const large = `{"access_token":"x","metadata":{"thumbnail":"data:,${'x'.repeat(4 * MIB - 100)}`

  test.each<[what: string, uploads: number, path: string, body: string, upload: (i: number) => Upload]>([
    ['4 MiB to /sdk/renew', atDepth(300, LARGE_UPLOADS), '/sdk/renew', large, () => ({ length: 4 * MIB })],
    [
      '4 MiB to /sdk/register/challenge in chunks',
      atDepth(150, LARGE_UPLOADS),
      '/sdk/register/challenge',
      large,
      () => ({}),
    ],
    [
      '380 KiB to /sdk/register/challenge from as many addresses',
      300,
      '/sdk/register/challenge',
      metadata(380 * KIB),
      (i) => ({ length: 384 * KIB, from: address(i) }),
    ],
  ])(
    '%s',
    async (_what, uploads, path, body, upload) => {
      const sockets: TLSSocket[] = []
      for (let i = 0; i < uploads; i++) sockets.push(await stall(relay, path, body, upload(i)))
      const growth = (await relay.memory()) - before
      for (const socket of sockets) socket.destroy()
      expect(growth).toBeLessThan(GROWTH_MAX_BYTES)
      await vi.waitFor(async () =>
        expect(await relay.call('GET', '/api/healthz')).toMatchObject({ status: 200 }),
      )
    },
    PROCESS_DEADLINE_MS,
  )
})

describe('a source', () => {
  let relay: TestRelay
  let lease: RegisterResponse
  beforeAll(async () => {
    // The memory of a source rises with its budget, which other test relays have without end.
    relay = await startTestRelay({ SOURCE_BUDGET_PER_MINUTE: '10' })
    lease = await relay.register('holder')
  })
  afterAll(() => relay.close())

  test('has 1 MiB of unfinished bodies, and others have theirs (protocol §2.4.7)', async () => {
    const upload = { length: 384 * KIB, from: '127.0.0.7' }
    const body = metadata(340 * KIB)
    const open = [await stall(relay, '/sdk/register/challenge', body, upload)]
    open.push(await stall(relay, '/sdk/register/challenge', body, upload))
    const third = await stall(relay, '/sdk/register/challenge', body, upload)
    expect(await answerOf(third)).toBe('429 rate_limited')
    const small = { length: 100, from: '127.0.0.7' }
    const other = await stall(relay, '/sdk/register/challenge', body, { ...upload, from: '127.0.0.8' })
    expect(await isWaitedFor(other)).toBe(true)
    const renewal = await stall(relay, '/sdk/renew', '{', small)
    expect(await isWaitedFor(renewal)).toBe(true)
    for (const socket of [...open, other, renewal]) socket.destroy()
    await vi.waitFor(async () => {
      const again = await stall(relay, '/sdk/register/challenge', body, upload)
      const isTaken = await isWaitedFor(again)
      again.destroy()
      expect(isTaken).toBe(true)
    })
  })

  test.each(['/sdk/renew', '/sdk/reverse', '/sdk/unregister', '/sdk/register', '/api/admin/auth/login'])(
    '%s takes 16 KiB and no more of who has shown nothing',
    async (path) => {
      const fits = await stall(relay, path, 'x'.repeat(15 * KIB), { length: 16 * KIB })
      expect(await isWaitedFor(fits)).toBe(true)
      fits.destroy()
      const announced = await stall(relay, path, '', {
        length: path === '/sdk/renew' ? 385 * KIB : 16 * KIB + 1,
      })
      expect(await answerOf(announced)).toBe('400 invalid_request')
      const chunked = await stall(relay, path, 'x'.repeat(17 * KIB))
      expect(await answerOf(chunked)).toBe('400 invalid_request')
    },
  )

  test('/v1/sign reads nothing without a token', async () => {
    const socket = await stall(relay, '/v1/sign', '', { length: 512 * KIB })
    expect(await answerOf(socket)).toBe('403 unauthorized')
  })

  test('a lease has 4 MiB of unfinished bodies, whoever sends them', async () => {
    const upload = { length: 512 * KIB, headers: `X-Svc-Access-Token: ${lease.access_token}\r\n` }
    const open: TLSSocket[] = []
    for (let i = 0; i < 8; i++)
      open.push(
        await stall(relay, '/v1/sign', 'x'.repeat(500 * KIB), { ...upload, from: `127.0.0.${i + 1}` }),
      )
    const more = await stall(relay, '/v1/sign', 'x'.repeat(500 * KIB), upload)
    expect(await answerOf(more)).toBe('429 rate_limited')
    for (const socket of open) socket.destroy()
  })
})

describe('a renewal with metadata', () => {
  let relay: TestRelay
  let token: string
  const account = newAccount()
  beforeAll(async () => {
    relay = await startTestRelay()
  })
  beforeEach(async () => {
    token = (await relay.register('pictured', { account })).access_token
  })
  afterAll(() => relay.close())

  const thumbnail = `data:image/png;base64,${'A'.repeat(15 * KIB)}`

  test('may be long when its token comes first', async () => {
    const description = 'd'.repeat(1024)
    const body = { access_token: token, ttl: 60, metadata: { thumbnail, owner: description, description } }
    expect(await relay.call('POST', '/sdk/renew', body)).toMatchObject({ status: 200 })
    const { data } = (await relay.call('GET', '/api/state')).json as { data: { leases: unknown[] } }
    expect(data.leases).toEqual([expect.objectContaining({ metadata: body.metadata })])
  })

  test('is refused when it comes behind 16 KiB', async () => {
    const body = { metadata: { thumbnail, description: 'd'.repeat(1024) }, access_token: token }
    expect(await relay.call('POST', '/sdk/renew', body)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', message: expect.stringContaining('access_token') } },
    })
  })

  test.each([
    ['an invalid token', () => 'x'.repeat(200), '403 unauthorized'],
    ['one of a lease that has ended', () => token, '404 lease_not_found'],
  ])('is refused before the rest is there: %s', async (_name, tokenOf, refusal) => {
    if (refusal.startsWith('404')) await relay.call('POST', '/sdk/unregister', { access_token: token })
    const body = `{"access_token":"${tokenOf()}","metadata":{"thumbnail":"data:,${'x'.repeat(20 * KIB)}`
    expect(await answerOf(await stall(relay, '/sdk/renew', body, { length: 300 * KIB }))).toBe(refusal)
  })
})
