// Tests what operators see of certificates: metric, administration, and the warning in the log before the end.

import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { type Certificates, certificatesOf } from '../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../src/core/certificates/certificate-rotation.ts'
import { CertificateStatuses } from '../../src/core/certificates/certificate-status.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { ExpiryWarning } from '../../src/core/certificates/expiry-warning.ts'
import { createLog } from '../../src/core/log/log.ts'
import { AcmeError } from '../../src/features/acme/authority.ts'
import { readSettings, startRelay } from '../../src/index.ts'
import { ROOT_HOST, startTestRelay } from '../support/relay.ts'

const HOST = 'relay.test'
const DAY_MS = 86_400_000
const authority = createCa(HOST)
const { chain, key } = createLeaf(authority, HOST)
const leaf = new X509Certificate(chain)

afterEach(() => void vi.useRealTimers())

test('metric and administration say what is held, and until when', async () => {
  const port = await freePort()
  const token = 'let-me-in-as-administrator'
  const relay = await startTestRelay({ METRICS_ADDR: `${port}`, ADMIN_TOKEN: token })
  try {
    const held = new X509Certificate(await readFile(join(relay.directory, 'fullchain.pem')))
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    for (const kind of ['root', 'wildcard']) {
      const [, seconds] = text.match(`svc_relay_certificate_expiry_seconds{host_kind="${kind}"} (\\S+)`) ?? []
      const expected = (held.validToDate.getTime() - Date.now()) / 1000
      expect(Math.abs(Number(seconds) - expected)).toBeLessThan(120)
    }
    const headers = { Authorization: `Bearer ${token}` }
    const { json } = await relay.call('GET', '/api/admin/certificates', undefined, headers)
    const names = [ROOT_HOST, `*.${ROOT_HOST}`]
    const one = {
      count: 1,
      names,
      not_after: held.validToDate.toISOString(),
      last_error: '',
      last_error_at: '',
    }
    expect(json.data).toEqual({
      certificates: [
        { host_kind: 'root', ...one },
        { host_kind: 'wildcard', ...one },
      ],
    })
  } finally {
    await relay.close()
  }
})

describe('statuses', () => {
  test('have the last error until an order succeeds, and those of sites where there are any', () => {
    const statuses = statusesOf(certificatesOf(HOST, chain, key))
    statuses.failed('site', new AcmeError('refused', 'CAA forbids it'))
    expect(statuses.all().map(({ kind }) => kind)).toEqual(['root', 'wildcard'])
    statuses.sites = () => ({ count: 2, names: ['a.relay.test'], notAfter: 1 })
    statuses.failed('root', new AcmeError('unreachable', 'the directory does not answer'))
    expect(statuses.all()).toEqual([
      expect.objectContaining({
        kind: 'root',
        lastError: { message: 'the directory does not answer', time: expect.any(Number) },
      }),
      expect.objectContaining({ kind: 'wildcard' }),
      {
        kind: 'site',
        count: 2,
        names: ['a.relay.test'],
        notAfter: 1,
        lastError: { message: 'CAA forbids it', time: expect.any(Number) },
      },
    ])
    statuses.succeeded('root')
    statuses.succeeded('site')
    expect(statuses.all().map(({ lastError }) => lastError)).toEqual([undefined, undefined, undefined])
  })

  test('of a relay that waits for its first certificate say that there is none', () => {
    const none = { ...certificatesOf(HOST, chain, key), chain: [] }
    expect(statusesOf(none).all()).toEqual([
      { kind: 'root', count: 0, names: [], notAfter: undefined, lastError: undefined },
    ])
  })
})

describe('the log', () => {
  const end = leaf.validToDate.getTime()

  test('has a warning each day from 14 days before the end, and an error after it', () => {
    vi.useFakeTimers({ now: end - 30 * DAY_MS })
    const { lines, statuses, warning } = start()
    vi.advanceTimersByTime(15 * DAY_MS)
    expect(lines()).toEqual([])
    statuses.failed('root', new AcmeError('unreachable', 'the directory does not answer'))
    vi.advanceTimersByTime(14 * DAY_MS)
    const warnings = lines()
    expect(warnings.length).toBeGreaterThanOrEqual(13)
    expect(warnings.length).toBeLessThanOrEqual(14)
    expect(warnings[0]).toMatchObject({
      level: 40,
      notAfter: leaf.validToDate.toISOString(),
      reason: 'the directory does not answer',
      msg: 'the certificate of the relay ends soon',
    })
    vi.advanceTimersByTime(2 * DAY_MS)
    expect(lines().at(-1)).toMatchObject({ level: 50 })
    warning.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('has it at the start, and after a step of the wall clock as well', () => {
    vi.useFakeTimers({ now: end - DAY_MS })
    const { lines, warning } = start()
    expect(lines()).toHaveLength(1)
    vi.setSystemTime(end - 10 * DAY_MS)
    vi.advanceTimersByTime(3 * 3_600_000)
    expect(lines()).toHaveLength(2)
    warning.close()
  })

  test('of a relay with files of its operator has it as well', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'svc-expiry-'))
    const lifetimeMs = end - leaf.validFromDate.getTime()
    vi.useFakeTimers({ now: Date.now() - lifetimeMs + 13 * DAY_MS, toFake: ['Date'] })
    const old = createLeaf(authority, HOST)
    vi.useRealTimers()
    await writeFile(join(directory, 'fullchain.pem'), old.chain)
    await writeFile(join(directory, 'privatekey.pem'), old.key, { mode: 0o600 })
    let text = ''
    const env = { SVC_URL: `https://${HOST}:${await freePort()}`, IDENTITY_PATH: directory }
    const log = createLog('warn', { write: (line) => (text += line) })
    const relay = await startRelay(readSettings(env), log)
    await relay.close()
    await rm(directory, { recursive: true })
    expect(text).toContain('the certificate of the relay ends soon')
    expect(text).toContain(`DNS:${HOST}, DNS:*.${HOST}`)
  })

  function start() {
    let text = ''
    const log = createLog('info', { write: (line) => (text += line) })
    const rotation = new CertificateRotation(certificatesOf(HOST, chain, key))
    const statuses = new CertificateStatuses(rotation)
    const warning = new ExpiryWarning(rotation, statuses, log)
    const lines = () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    return { lines, statuses, warning }
  }
})

function statusesOf(certificates: Certificates): CertificateStatuses {
  return new CertificateStatuses(new CertificateRotation(certificates))
}
