// A restart after a rotation: sites still present the chain of before, and get their signatures for it.

import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Certificates } from '../../src/core/certificates/certificate-files.ts'
import { loadCertificates } from '../../src/core/certificates/certificate-source.ts'
import { createLeaf, type Leaf } from '../../src/core/certificates/development-ca.ts'
import { PreviousCertificates } from '../../src/core/certificates/previous-certificates.ts'
import { createLog } from '../../src/core/log/log.ts'
import { readSettings } from '../../src/settings.ts'
import { openCarrier } from '../support/carrier.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'
import { activate, genuine, sign } from '../support/sign.ts'

const HOUR_MS = 3_600_000
const KEPT = 'previous-certificate.json'
let log = ''
const logged = () => createLog('info', { write: (line) => (log += line) })
beforeEach(() => {
  log = ''
})

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('a relay that starts again', () => {
  let relay: TestRelay
  beforeEach(async () => {
    relay = await startTestRelay({}, { log: logged() })
  })
  afterEach(() => relay.close())

  const path = (name: string): string => join(relay.directory, name)
  const read = (name: string): Promise<string> => readFile(path(name), 'utf8')

  /** @returns what sites may still present */
  async function install(): Promise<X509Certificate> {
    const before = new X509Certificate(await read('fullchain.pem'))
    const authority = { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
    const { chain, key }: Leaf = createLeaf(authority, ROOT_HOST)
    await writeFile(path('fullchain.pem'), chain)
    await writeFile(path('privatekey.pem'), key)
    return before
  }

  async function restart(): Promise<void> {
    await relay.stop()
    relay = await startTestRelay({}, { log: logged(), directory: relay.directory })
  }

  /** The status of a signature for this certificate, which a site of its own asks for. */
  async function signedFor({ raw, serialNumber }: X509Certificate): Promise<number> {
    const lease = await relay.register(`site-${serialNumber.slice(0, 8).toLowerCase()}`)
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const request = genuine(await activate(relay, carrier, lease), [raw])
    return (await sign(relay, lease.access_token, request)).status
  }

  test('signs for the chain of before, as well as for that of now', async () => {
    const before = await install()
    await vi.waitUntil(() => log.includes('certificates reloaded'))
    await restart()
    expect(await signedFor(before)).toBe(200)
    expect(await signedFor(new X509Certificate(await read('fullchain.pem')))).toBe(200)
  })

  test('does so when the files were replaced just before it was told to stop', async () => {
    const before = await install()
    // the system tells of a changed file a moment later
    await new Promise((resolve) => setTimeout(resolve, 50))
    await restart()
    expect(await signedFor(before)).toBe(200)
  })
})

describe('what is kept on disk', () => {
  let directory: string
  let certificates: Certificates
  let previous: PreviousCertificates
  const file = (): string => join(directory, KEPT)

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-previous-'))
    const settings = readSettings({ SVC_URL: `https://${ROOT_HOST}`, IDENTITY_PATH: directory })
    ;({ certificates } = await loadCertificates(settings, createLog('silent')))
    previous = new PreviousCertificates(settings, logged())
  })
  afterEach(async () => {
    vi.useRealTimers()
    previous.close()
    await rm(directory, { recursive: true })
  })

  test('is read by nobody else, and says until when', async () => {
    const until = Date.now() + HOUR_MS
    await previous.keep({ certificates, until })
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file(), 'utf8')).until).toBe(new Date(until).toISOString())
    expect(await previous.load(certificates)).toMatchObject({
      certificates: { chain: certificates.chain, authority: certificates.authority },
      until,
    })
  })

  test('is deleted when that time is over', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    await previous.keep({ certificates, until: Date.now() + HOUR_MS })
    await vi.advanceTimersByTimeAsync(HOUR_MS - 1)
    expect(await exists(file())).toBe(true)
    await vi.advanceTimersByTimeAsync(1)
    vi.useRealTimers()
    await expect.poll(() => exists(file())).toBe(false)
  })

  test('is not kept longer by a clock that was set back', async () => {
    await previous.keep({ certificates, until: Date.now() + 24 * HOUR_MS })
    const { until } = (await previous.load(certificates))!
    expect(until - Date.now()).toBeLessThanOrEqual(2 * HOUR_MS)
  })

  test.each<[string, RegExp, (kept: object) => string]>([
    [
      'is out of date',
      /it has expired/,
      (kept) => JSON.stringify({ ...kept, until: new Date(Date.now() - 1).toISOString() }),
    ],
    ['says no time', /it has expired/, (kept) => JSON.stringify({ ...kept, until: 'soon' })],
    ['is no JSON', /it is not JSON/, () => '{'],
    ['is no object', /chain or key is missing/, () => 'null'],
    ['has no key', /chain or key is missing/, (kept) => JSON.stringify({ ...kept, key: undefined })],
    ['has a broken key', /is not PEM/, (kept) => JSON.stringify({ ...kept, key: '-----BEGIN PRIVATE KEY' })],
  ])('is deleted at a start when it %s', async (_what, reason, change) => {
    await previous.keep({ certificates, until: Date.now() + HOUR_MS })
    await writeFile(file(), change(JSON.parse(await readFile(file(), 'utf8'))))
    expect(await previous.load(certificates)).toBeUndefined()
    expect(await exists(file())).toBe(false)
    expect(log).toMatch(reason)
    expect(log).not.toContain('PRIVATE KEY')
  })

  test('is no reason not to rotate when it cannot be written', async () => {
    await rm(directory, { recursive: true })
    await writeFile(directory, 'no directory')
    await previous.keep({ certificates, until: Date.now() + HOUR_MS })
    expect(log).toContain('a restart would forget it')
  })
})
