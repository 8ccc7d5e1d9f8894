// Certificates and policy that change while the relay runs: new handshakes get the new ones, nothing that is open ends.

import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { type Certificates, readCertificates } from '../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../src/core/certificates/certificate-rotation.ts'
import { createLeaf, type Leaf } from '../../src/core/certificates/development-ca.ts'
import { createLog } from '../../src/core/log/log.ts'
import { readSettings } from '../../src/settings.ts'
import { openCarrier } from '../support/carrier.ts'
import { ROOT_HOST, startTestRelay } from '../support/relay.ts'
import { activate, genuine, sign } from '../support/sign.ts'

const HOUR_MS = 3_600_000
let log = ''

const relay = useStarted(() =>
  startTestRelay({}, { log: createLog('info', { write: (line) => (log += line) }) }),
)
beforeEach(() => {
  log = ''
})

const path = (name: string): string => join(relay.directory, name)
const read = (name: string): Promise<string> => readFile(path(name), 'utf8')
const leafFor = async (host: string): Promise<Leaf> =>
  createLeaf({ certificate: await read('ca.pem'), key: await read('ca-key.pem') }, host)

/** One file after the other, as every tool does it. */
async function install({ chain, key }: Leaf): Promise<void> {
  await writeFile(path('fullchain.pem'), chain)
  await writeFile(path('privatekey.pem'), key)
}

async function said(text: string): Promise<void> {
  await vi.waitUntil(() => log.includes(text))
}

/** What a client that is not ours is shown, and verifies. */
async function shownByOpenssl(serverName: string): Promise<X509Certificate> {
  const where = ['-connect', `127.0.0.1:${relay.port}`, '-servername', serverName]
  const trust = ['-CAfile', path('ca.pem'), '-verify_return_error']
  const client = spawn('openssl', ['s_client', ...where, ...trust], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  for await (const chunk of client.stdout) output += chunk
  expect(output).toContain('Verify return code: 0 (ok)')
  return new X509Certificate(output.slice(output.indexOf('-----BEGIN')))
}

describe('certificates', () => {
  test('new ones are shown to new clients, and open sessions do not notice', async () => {
    const before = new X509Certificate(await read('fullchain.pem'))
    expect((await shownByOpenssl(ROOT_HOST)).fingerprint256).toBe(before.fingerprint256)
    const lease = await relay.register('stays')
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const leaf = await leafFor(ROOT_HOST)
    await install(leaf)
    await said('certificates reloaded')
    const after = new X509Certificate(leaf.chain)
    expect((await shownByOpenssl(ROOT_HOST)).fingerprint256).toBe(after.fingerprint256)
    expect((await relay.call('GET', '/sdk/certificate-chain')).text).toBe(leaf.chain)
    const { read: readStream } = await carrier.open(lease.reverse_endpoint.capability)
    expect(await readStream(1)).toEqual(Buffer.of(0))
  })

  test('a tenant gets its signature for the chain that it presents, the old or the new', async () => {
    const before = new X509Certificate(await read('fullchain.pem'))
    const lease = await relay.register('signed')
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const leaf = await leafFor(ROOT_HOST)
    await install(leaf)
    await said('certificates reloaded')
    const after = new X509Certificate(leaf.chain)
    for (const shown of [before, after]) {
      const request = genuine(await activate(relay, carrier, lease), [shown.raw])
      expect(await sign(relay, lease.access_token, request)).toMatchObject({ status: 200 })
    }
    const request = genuine(await activate(relay, carrier, lease), [(await newest('other.localhost')).raw])
    expect(await sign(relay, lease.access_token, request)).toMatchObject({ status: 403 })
  })

  const newest = async (host: string): Promise<X509Certificate> =>
    new X509Certificate((await leafFor(host)).chain)

  test.each<[string, RegExp, () => Promise<Leaf>]>([
    [
      'a key of another certificate',
      /privatekey.pem: is not the key of/,
      async () => ({ ...(await leafFor(ROOT_HOST)), key: (await leafFor(ROOT_HOST)).key }),
    ],
    ['another host', /fullchain.pem: must cover/, () => leafFor('other.localhost')],
    [
      'no certificate',
      /fullchain.pem: contains no certificate/,
      async () => ({ ...(await leafFor(ROOT_HOST)), chain: '' }),
    ],
    [
      'a broken certificate',
      /fullchain.pem: is not PEM/,
      async () => ({
        ...(await leafFor(ROOT_HOST)),
        chain: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      }),
    ],
    [
      'a broken key',
      /privatekey.pem: is not PEM/,
      async () => ({ ...(await leafFor(ROOT_HOST)), key: 'key' }),
    ],
    ['one that is out of date', /fullchain.pem: expired on/, expired],
  ])('%s keeps the old ones in force, and is logged', async (_name, reason, make) => {
    const before = (await relay.call('GET', '/sdk/certificate-chain')).text
    await install(await make())
    await vi.waitUntil(() => reason.test(log))
    expect(log).toContain('cannot use the certificates on disk')
    expect((await shownByOpenssl(ROOT_HOST)).fingerprint256).toBe(new X509Certificate(before).fingerprint256)
    expect((await relay.call('GET', '/sdk/certificate-chain')).text).toBe(before)
  })

  async function expired(): Promise<Leaf> {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2020-01-01') })
    const leaf = await leafFor(ROOT_HOST)
    vi.useRealTimers()
    return leaf
  }
})

describe('policy.json, edited by hand', () => {
  const edit = async (fields: Record<string, unknown>): Promise<void> =>
    writeFile(path('policy.json'), JSON.stringify({ ...JSON.parse(await read('policy.json')), ...fields }))

  test('a ban ends what is open of that lease, and of no other', async () => {
    const banned = await relay.register('banned')
    const other = await relay.register('other')
    const [carrier, otherCarrier] = [
      await openCarrier(relay, banned.reverse_endpoint.capability),
      await openCarrier(relay, other.reverse_endpoint.capability),
    ]
    const closed = once(carrier.socket, 'close')
    const { name, address } = banned.identity
    await edit({ banned_identity_keys: [`${name}:${address}`] })
    expect((await closed)[0]).toBe(4001)
    expect(otherCarrier.socket.readyState).toBe(otherCarrier.socket.OPEN)
  })

  test('what is no policy is logged and changes nothing', async () => {
    await edit({ approval_mode: 'perhaps' })
    await said('cannot use the policy on disk')
    expect((await relay.call('GET', '/api/state')).status).toBe(200)
    expect(log).toContain('is not a policy file')
    await relay.register('still')
  })

  test("the relay's own writes are no news", async () => {
    let news = ''
    const again = await startTestRelay(
      { ADMIN_TOKEN: 'let-me-in-as-administrator' },
      { log: createLog('info', { write: (line) => (news += line) }) },
    )
    const headers = { Authorization: 'Bearer let-me-in-as-administrator' }
    await again.call('POST', '/api/policy/ips', { ip: '203.0.113.7', is_banned: true }, headers)
    // Behind it, so that both were looked at once this one was.
    await writeFile(join(again.directory, 'fullchain.pem'), '')
    await vi.waitUntil(() => news.includes('cannot use the certificates on disk'))
    expect(news).not.toContain('policy reloaded')
    await again.close()
  })
})

// These come last: timers that the relay starts while they have time stand still never fire.
describe('CertificateRotation', () => {
  afterEach(() => void vi.useRealTimers())
  const certificatesOf = async (leaf: Leaf): Promise<Certificates> => {
    await install(leaf)
    const env = { SVC_URL: `https://${ROOT_HOST}`, IDENTITY_PATH: relay.directory }
    return await readCertificates(readSettings(env))
  }

  test('what was replaced can be presented for two hours', async () => {
    const [first, second] = [
      await certificatesOf(await leafFor(ROOT_HOST)),
      await certificatesOf(await leafFor(ROOT_HOST)),
    ]
    const rotation = new CertificateRotation(first)
    expect(rotation.replace(first)).toBeUndefined()
    vi.useFakeTimers()
    expect(rotation.replace(second)).toMatchObject({ certificates: first })
    expect(rotation.presentable).toEqual([second, first])
    vi.advanceTimersByTime(2 * HOUR_MS - 1)
    expect(rotation.presentable).toEqual([second, first])
    vi.advanceTimersByTime(1)
    expect(rotation.presentable).toEqual([second])
  })

  test('but never when it is out of date', async () => {
    const [first, second] = [
      await certificatesOf(await leafFor(ROOT_HOST)),
      await certificatesOf(await leafFor(ROOT_HOST)),
    ]
    const end = new X509Certificate(first.chain[0]!).validToDate.getTime()
    vi.useFakeTimers({ now: end - HOUR_MS })
    const rotation = new CertificateRotation(first)
    rotation.replace(second)
    vi.advanceTimersByTime(HOUR_MS)
    expect(rotation.presentable).toEqual([second])
  })
})
