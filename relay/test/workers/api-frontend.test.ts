import { once } from 'node:events'
import { Duplex, duplexPair } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { connect } from 'node:tls'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { certificatesOf } from '../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../src/core/certificates/certificate-rotation.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { createApiFrontend } from '../../src/features/workers/api-frontend.ts'
import { ROOT_HOST } from '../support/relay.ts'

const serveConnect = vi.fn()
const forward = vi.fn()
let apiFrontend: ReturnType<typeof createApiFrontend>
beforeAll(async () => {
  const { chain, key } = createLeaf(createCa(ROOT_HOST), ROOT_HOST)
  const certificates = new CertificateRotation(certificatesOf(ROOT_HOST, chain, key))
  apiFrontend = createApiFrontend({ certificates, serveConnect, forward })
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  serveConnect.mockReset()
  forward.mockReset()
})
afterEach(() => void vi.useRealTimers())

function connection(): Duplex {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  apiFrontend.emit('secureConnection', stream)
  return stream
}

function rest(stream: Duplex): string {
  const chunks: Buffer[] = []
  for (let bytes = stream.read(); bytes !== null; bytes = stream.read()) chunks.push(bytes)
  return String(Buffer.concat(chunks))
}

async function say(stream: Duplex, bytes: string): Promise<void> {
  stream.push(bytes)
  for (let turn = 0; turn < 3; turn++) await immediate()
}

const REQUEST = 'GET /sdk/connect HTTP/1.1\r\n'

describe('a connection', () => {
  test.each([
    ['at once', [REQUEST]],
    ['byte by byte', [...REQUEST]],
    ['with a query', ['GET /sdk/connect?', 'a=b HTTP/1.1\r\n']],
  ])('for a carrier, that says so %s, stays, with every byte', async (_how, pieces) => {
    const stream = connection()
    for (const piece of pieces) await say(stream, piece)
    expect(serveConnect).toHaveBeenCalledExactlyOnceWith(stream)
    expect(rest(stream)).toBe(pieces.join(''))
    expect(forward).not.toHaveBeenCalled()
  })

  test.each([
    'GET /sdk/connected HTTP/1.1\r\n',
    'GET /sdk/connect/ HTTP/1.1\r\n',
    'get /sdk/connect HTTP/1.1\r\n',
    'POST /v1/sign HTTP/1.1\r\n',
    '\r\nGET /sdk/connect HTTP/1.1\r\n',
    '\u0000',
  ])('that begins with %j goes on, with every byte', async (begin) => {
    const stream = connection()
    await say(stream, begin)
    expect(forward).toHaveBeenCalledExactlyOnceWith(stream)
    expect(rest(stream)).toBe(begin)
    expect(serveConnect).not.toHaveBeenCalled()
  })

  test('that has not said by 10 s what it wants is closed', async () => {
    const stream = connection()
    await say(stream, 'GET /sdk/')
    await vi.advanceTimersByTimeAsync(9_999)
    expect(stream.destroyed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(stream.destroyed).toBe(true)
    expect([serveConnect.mock.calls, forward.mock.calls]).toEqual([[], []])
  })
})

test('a client that knows TLS 1.2 only gets an alert, and no signature', async () => {
  const [near, far] = duplexPair()
  apiFrontend.emit('connection', near)
  const client = connect({ socket: far, servername: ROOT_HOST, maxVersion: 'TLSv1.2' })
  expect((await once(client, 'error'))[0]).toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
})
