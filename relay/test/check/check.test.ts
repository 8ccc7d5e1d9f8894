// `svc-relay check` and `svc-relay healthcheck` as an operator runs them, beside relays that run and ports that are taken.

import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildRelayPages } from '../../../tools/bundler/relay-pages.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { type Report, reportOf } from '../../src/cli/check/report.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import type { Finding, Status } from '../../src/core/check/finding.ts'
import { askHealth } from '../../src/core/check/health.ts'
import { loadZoneKey } from '../../src/features/dns/zone-key-file.ts'
import { findDriver } from '../../src/features/overlay/wireguard/find-driver.ts'
import { hasFirewall } from '../../src/features/overlay/wireguard/firewall.ts'
import { readSettings } from '../../src/settings.ts'
import { writeDownloads } from '../support/downloads.ts'
import { freePort, startTestRelay } from '../support/relay.ts'
import { startRelayProcess } from '../support/relay-process.ts'
import { svcRelay } from '../support/svc-relay.ts'

let directory: string
const closing: (() => unknown)[] = []
// Without them the relay would warn.
beforeAll(() => buildRelayPages())
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-check-'))
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await rm(directory, { recursive: true })
})

async function environment(more: Record<string, string> = {}): Promise<Record<string, string>> {
  return {
    SVC_URL: `https://relay.localhost:${await freePort()}`,
    IDENTITY_PATH: join(directory, 'state'),
    ...more,
  }
}

function found({ findings }: Report, feature: string, status?: Status): string[] {
  const isMeant = (one: Finding) => one.feature === feature && (status ?? one.status) === one.status
  return findings.filter(isMeant).map(({ message }) => message)
}

async function take(port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port)
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => server.close())
  return server
}

describe('svc-relay check', () => {
  test('a relay that could start: each feature has its line, and nothing was made', async () => {
    const env = await environment({ SVC_WORKER: '2', ADMIN_TOKEN: 'a-secret-of-24-characters' })
    const { code, stdout, stderr } = await svcRelay(['check'], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('A start would succeed, with 1 warning.')
    expect(stdout).toMatch(/^warning {2}settings {10}SVC_WORKER does nothing: .*is SVC_WORKERS meant\?$/m)
    expect(stdout).toMatch(/^ok {7}certificate {7}The relay creates a development CA/m)
    expect(stdout).not.toContain(env.ADMIN_TOKEN)
    expect(await readdir(directory)).toEqual([])
  })

  test('payments: off, on, with a node that others can listen to, with a journal that was changed, and to nobody', async () => {
    const payments = async (more: Record<string, string>) => {
      const { findings } = await reportOf({ ...env, ...more })
      return findings.filter(({ feature }) => feature === 'payments')
    }
    const env = await environment()
    expect(await payments({})).toMatchObject([
      { status: 'off', message: expect.stringContaining('X402_ENABLED is false') },
    ])
    const on = { X402_ENABLED: 'true', X402_TESTNET: 'true', X402_PAY_TO: `0x${'5E'.repeat(32)}` }
    expect(await payments(on)).toMatchObject([
      {
        status: 'ok',
        message: expect.stringMatching(/^The relay settles payments to 0x5e5e.* on Sui Testnet, by https:/),
      },
      { status: 'ok', message: 'No payment is open.' },
    ])
    const endpoints = 'http://192.0.2.1:9000/key-of-an-account,http://127.0.0.1:9000'
    const [settles, , open] = await payments({ ...on, X402_ENDPOINTS: endpoints })
    expect(settles?.message).not.toContain('key-of-an-account')
    expect(open).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('has http://192.0.2.1:9000:'),
    })
    expect(await readdir(directory)).toEqual([])
    await mkdir(join(directory, 'state'))
    await writeFile(join(directory, 'state', 'payments.jsonl'), 'nonsense\n')
    expect((await payments(on))[1]).toMatchObject({
      status: 'error',
      message: expect.stringContaining('line 1'),
    })
    for (const payTo of ['', '0x1', `0x${'a'.repeat(40)}`, `0x${'0'.repeat(64)}`]) {
      const report = await reportOf({ ...env, ...on, X402_PAY_TO: payTo })
      expect(found(report, 'settings', 'error')).toContainEqual(expect.stringContaining('X402_PAY_TO'))
    }
  })

  test('the static cache: off, on, without room, and without a certificate for sites', async () => {
    const cache = async (env: Record<string, string>) =>
      (await reportOf(env)).findings.filter(({ feature }) => feature === 'static cache')
    const env = await environment()
    expect(await cache(env)).toMatchObject([
      { status: 'off', message: expect.stringContaining('STATIC_CACHE_ENABLED is false') },
    ])
    const on = { ...env, STATIC_CACHE_ENABLED: 'true', STATIC_CACHE_BYTES: '5000000' }
    expect(await cache(on)).toMatchObject([
      { status: 'ok', message: expect.stringContaining('86400 s after they are gone') },
      { status: 'ok', message: expect.stringMatching(/^STATIC_CACHE_BYTES is 4 MiB, for which the disk/) },
    ])
    expect(await readdir(directory)).toEqual([])
    expect(await cache({ ...on, STATIC_CACHE_BYTES: '999999999999999' })).toMatchObject([
      { status: 'ok' },
      {
        status: 'warning',
        message: expect.stringMatching(/^STATIC_CACHE_BYTES is 953,674,316 MiB, and the disk/),
      },
    ])
    const acme = {
      SVC_URL: 'https://relay.example.com',
      ACME_AGREE: 'true',
      ACME_CHALLENGE: 'tls-alpn-01',
    }
    expect(await cache({ ...on, ...acme })).toMatchObject([
      { status: 'warning', message: expect.stringContaining('*.relay.example.com, which dns-01 alone') },
      { status: 'ok' },
    ])
    await writeFile(join(directory, 'state'), '')
    expect(await cache(on)).toMatchObject([{ status: 'error' }])
  })

  test('settings without effect, because what they belong to is off, are named with the reason', async () => {
    const idle = async (more: Record<string, string>) =>
      found(await reportOf(await environment(more)), 'settings', 'warning')
    expect(
      await idle({
        BOOTSTRAPS: 'https://a.example',
        STATIC_CACHE_BYTES: '1000000000',
        X402_ENDPOINTS: 'https://node.example',
        UDP_ENABLED: 'true',
        DNS_ADDR: '5353',
        ACME_EMAIL: 'a@example.com',
        ACME_DNS_PROVIDER: 'embedded',
        PUBLIC_IPV4: '192.0.2.1',
      }),
    ).toEqual([
      'ACME_DNS_PROVIDER does nothing: the relay changes no DNS records',
      'DNS_ADDR does nothing: the relay is not a name server',
      'PUBLIC_IPV4 does nothing: the relay publishes no address records, and has no dedicated ports that name an address',
      'ACME_EMAIL does nothing: the relay gets no certificates by ACME',
      'UDP_ENABLED does nothing: MIN_PORT and MAX_PORT are not set',
      'STATIC_CACHE_BYTES does nothing: STATIC_CACHE_ENABLED is false',
      'X402_ENDPOINTS does nothing: X402_ENABLED is false',
      'BOOTSTRAPS does nothing: DISCOVERY is false',
    ])
    // A default value, and what is on, need no word.
    expect(
      await idle({
        UDP_ENABLED: 'false',
        DNS_ADDR: '53',
        MIN_PORT: '40000',
        MAX_PORT: '40001',
        PUBLIC_IPV4: '192.0.2.1',
      }),
    ).toEqual([])
  })

  test('settings of the DNS beside certificate files of the operator are named', async () => {
    const ca = createCa('relay.example')
    const { chain, key } = createLeaf(ca, 'relay.example', ['relay.example', '*.relay.example'])
    const state = join(directory, 'state')
    await mkdir(state, { recursive: true })
    await writeFile(join(state, 'fullchain.pem'), chain)
    await writeFile(join(state, 'privatekey.pem'), key, { mode: 0o600 })
    const env = {
      ...(await environment({ DNS_ADDR: '5353', PUBLIC_IPV4: '192.0.2.1' })),
      SVC_URL: 'https://relay.example',
    }
    const named = ['DNS_ADDR', 'PUBLIC_IPV4'].map((name) => expect.stringContaining(`${name} does nothing:`))
    expect(found(await reportOf(env), 'settings', 'warning')).toEqual(named)
    expect(found(await reportOf({ ...env, ACME_DNS_PROVIDER: 'embedded' }), 'settings', 'warning')).toEqual(
      [],
    )
  })

  test('discovery: off, with bootstrap relays, without, and for tests', async () => {
    const lines = async (env: Record<string, string>) =>
      (await reportOf({ ...(await environment(env)), SVC_URL: 'https://relay.example' })).findings
        .filter(({ feature }) => feature === 'discovery')
        .map(({ status, message }) => [status, message])
    expect(await lines({})).toEqual([['off', expect.stringContaining('DISCOVERY is false')]])
    const BOOTSTRAPS = 'https://a.example,https://relay.example'
    expect(await lines({ DISCOVERY: 'true', BOOTSTRAPS })).toEqual([
      ['ok', 'The relay announces itself to https://a.example, and learns of others there.'],
    ])
    expect(await lines({ DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' })).toEqual([
      ['warning', expect.stringMatching(/^BOOTSTRAPS names no other relay/)],
      ['warning', expect.stringMatching(/^DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS/)],
    ])
  })

  test('overlay: off, by WireGuard where the machine has it, with a key that cannot be used', async () => {
    const overlay = async (env: Record<string, string>) => {
      const all = { ...(await environment(env)), SVC_URL: 'https://relay.example' }
      return (await reportOf(all)).findings.filter(({ feature }) => feature === 'overlay')
    }
    expect(await overlay({})).toMatchObject([{ status: 'off' }])
    const wireguard = { DISCOVERY: 'true', WIREGUARD_PORT: '51820' }
    // Machines have the programs for a driver, some of them, or none; those without nft get a warning more.
    const driver = await findDriver()
    const address = 'at UDP port 51820; its overlay address is an address of a new'
    const expected =
      typeof driver === 'string'
        ? [{ status: 'warning', message: expect.stringContaining(driver) }]
        : [
            { status: 'ok', message: expect.stringContaining(address) },
            ...((await hasFirewall())
              ? []
              : [{ status: 'warning', message: expect.stringContaining('no nft') }]),
          ]
    expect(await overlay(wireguard)).toMatchObject(expected)
    const config = join(directory, 'overlay.json')
    await writeFile(config, '{"network":"wireguard"}')
    expect(await overlay({ ...wireguard, OVERLAY_CONFIG: config })).toMatchObject(expected)
    expect(await overlay({ DISCOVERY: 'true', OVERLAY_CONFIG: config })).toMatchObject([{ status: 'error' }])
    await writeFile(
      config,
      JSON.stringify({ network: '10.9.0.0/24', address: '10.9.0.1', port: 4017, peers: {} }),
    )
    expect(await overlay({ DISCOVERY: 'true', OVERLAY_CONFIG: config })).toMatchObject([
      {
        status: 'ok',
        message: 'The relay links with 0 peers on 10.9.0.0/24, and listens for them at 10.9.0.1:4017.',
      },
    ])
    expect(await overlay({ ...wireguard, OVERLAY_CONFIG: config })).toMatchObject([{ status: 'error' }])
    const env = await environment(wireguard)
    await mkdir(env.IDENTITY_PATH!, { recursive: true })
    await writeFile(join(env.IDENTITY_PATH!, 'wireguard.json'), '{', { mode: 0o600 })
    expect(await overlay(wireguard)).toMatchObject([
      { status: 'error', message: expect.stringContaining('wireguard.json: is not JSON') },
    ])
  })

  test('DNS: what would change records, the DS record, and ports that are taken', async () => {
    const dns = async (env: Record<string, string>) => found(await reportOf(env), 'DNS')
    expect(await dns(await environment())).toEqual(['The relay changes no DNS records.'])
    const taken = await freePort()
    const port = (await take(taken)).listening ? taken : 0
    const env = await environment({
      SVC_URL: 'https://relay.example.com',
      ENS_GASLESS_ENABLED: 'true',
      DNS_ADDR: `127.0.0.1:${port}`,
    })
    await mkdir(env.IDENTITY_PATH!)
    const { chain, key } = createLeaf(createCa('relay.example.com'), 'relay.example.com')
    await writeFile(join(env.IDENTITY_PATH!, 'fullchain.pem'), chain)
    await writeFile(join(env.IDENTITY_PATH!, 'privatekey.pem'), key, { mode: 0o600 })
    expect(await dns(env)).toEqual([
      'The relay makes a key that signs the zone relay.example.com: its DS record will be new.',
      expect.stringMatching(/^The relay's name server cannot listen at 127\.0\.0\.1, port \d+: .*EADDRINUSE/),
      'relay.example.com and sites have ENS names, by embedded.',
    ])
    await writeFile(join(env.IDENTITY_PATH!, 'dnssec-csk.json'), '{', { mode: 0o600 })
    expect(await dns(env)).toEqual([expect.stringContaining('dnssec-csk.json: is damaged')])
    await loadZoneKey(join(directory, 'other'), 'relay.example.com')
    await copyFile(join(directory, 'other/dnssec-csk.json'), join(env.IDENTITY_PATH!, 'dnssec-csk.json'))
    expect((await dns(env))[0]).toMatch(/DS record is \d+ 13 2 [0-9A-F]{64}\.$/i)
  })

  test('DNS: credentials of an external provider that are missing, as a start says it', async () => {
    const vultr = {
      SVC_URL: 'https://relay.example.com',
      ACME_AGREE: 'true',
      ACME_DNS_PROVIDER: 'vultr',
    }
    const missing = await reportOf(await environment(vultr))
    expect(found(missing, 'DNS')).toEqual(['VULTR_API_KEY: is needed by ACME_DNS_PROVIDER=vultr'])
    expect(missing.ok).toBe(false)
    const given = await reportOf({ ...(await environment(vultr)), VULTR_API_KEY: 'a-secret-key' })
    expect(found(given, 'DNS')).toEqual(['vultr changes the DNS records of the relay.'])
    expect(JSON.stringify(given)).not.toContain('a-secret-key')
  })

  test('--json has the same, for programs', async () => {
    const { code, stdout } = await svcRelay(['check', '--json'], await environment())
    const { ok, findings }: Report = JSON.parse(stdout)
    expect({ code, ok }).toEqual({ code: 0, ok: true })
    expect(new Set(findings.map(({ feature }) => feature)).size).toBe(27)
    for (const finding of findings)
      expect(finding).toEqual({
        feature: expect.any(String),
        status: expect.stringMatching(/^(ok|off|warning|error)$/),
        message: expect.stringMatching(/^[A-Z].*[.?]$/),
      })
  })

  test('every invalid setting is named at once, and no secret is shown', async () => {
    const env = { UDP_ENABLED: 'maybe', MIN_PORT: '9000', ADMIN_TOKEN: 'too short' }
    const report = await reportOf(env)
    expect(report.ok).toBe(false)
    const named = found(report, 'settings', 'error').map((message) => message.split(': ')[0])
    expect(named.toSorted()).toEqual(['ADMIN_TOKEN', 'MAX_PORT', 'SVC_URL', 'UDP_ENABLED'])
    expect(JSON.stringify(report)).not.toContain('too short')
  })

  test('files that a start refuses are errors of their features, and stay as they are', async () => {
    const env = await environment()
    await mkdir(env.IDENTITY_PATH!)
    const files = { 'identity.json': '{"private_key":"0x12"}', 'policy.json': '[]', 'leases.jsonl': '' }
    for (const [name, text] of Object.entries(files))
      await writeFile(join(env.IDENTITY_PATH!, name), text, { mode: 0o600 })
    const report = await reportOf(env)
    expect(report.ok).toBe(false)
    expect(found(report, 'identity', 'error')).toEqual([
      expect.stringContaining('private_key needs 64 hexadecimal digits'),
    ])
    expect(found(report, 'policy', 'error')).toEqual([expect.stringContaining('is not a policy file')])
    for (const [name, text] of Object.entries(files))
      expect(await readFile(join(env.IDENTITY_PATH!, name), 'utf8')).toBe(text)
  })

  test("an operator's certificate: missing, open to others, valid", async () => {
    const relay = await startTestRelay()
    closing.push(() => relay.close())
    // The certificate of a development CA serves as that of an operator, for the same host.
    const env = await environment({
      SVC_URL: 'https://relay.example:4433',
      SNI_PORT: String(await freePort()),
    })
    expect(found(await reportOf(env), 'certificate', 'error')).toEqual([
      `${env.IDENTITY_PATH}: needs fullchain.pem and privatekey.pem for relay.example; ACME_AGREE=true lets the relay get a certificate by ACME`,
    ])
    const local = { SVC_URL: `https://relay.localhost:${await freePort()}`, IDENTITY_PATH: relay.directory }
    expect(found(await reportOf(local), 'certificate')).toEqual([
      expect.stringMatching(
        /^fullchain.pem, of the development CA, is valid until .* \(ECDSA P-256, 2 in the chain\)\.$/,
      ),
    ])
    await chmod(join(relay.directory, 'privatekey.pem'), 0o644)
    expect(found(await reportOf(local), 'certificate', 'error')).toEqual([
      expect.stringContaining('is open to others: run chmod 600'),
    ])
  })

  test('a certificate by ACME: the first one, and what an account without consent means', async () => {
    const env = await environment({
      SVC_URL: 'https://relay.example:4433',
      SNI_PORT: String(await freePort()),
      ACME_AGREE: 'true',
      ACME_DIRECTORY: 'staging',
    })
    expect(found(await reportOf(env), 'certificate')).toEqual([
      // The second where this machine has a resolver.
      expect.stringMatching(
        /^The relay gets a certificate for relay\.example at acme-staging-v02\.api\.letsencrypt\.org, by (?:dns-01 where the public DNS delegates relay\.example to this relay's name server, else tls-alpn-01|tls-alpn-01, since the public DNS does not delegate relay\.example to this relay's name server), and serves nobody before\.$/,
      ),
    ])
    await mkdir(env.IDENTITY_PATH!, { recursive: true, mode: 0o700 })
    await writeFile(join(env.IDENTITY_PATH!, 'acme-registration.json'), '{}')
    expect(found(await reportOf({ ...env, ACME_AGREE: 'false' }), 'certificate', 'error')).toEqual([
      expect.stringMatching(
        /^ACME_AGREE: must be true, since .* has an ACME account: move acme-account\.key/,
      ),
    ])
  })

  test('ports that other programs hold', async () => {
    const [port, metrics, first] = [await freePort(), await freePort(), await freePort()]
    for (const taken of [port, metrics, first]) await take(taken)
    const report = await reportOf(
      await environment({
        SNI_PORT: String(port),
        METRICS_ADDR: String(metrics),
        TCP_ENABLED: 'true',
        UDP_ENABLED: 'true',
        MIN_PORT: String(first),
        MAX_PORT: String(first),
      }),
    )
    expect(found(report, 'listener', 'error')).toEqual([expect.stringContaining(`listens on port ${port}`)])
    expect(found(report, 'metrics', 'ok')).toEqual([])
    expect(found(report, 'TCP ports', 'warning')).toEqual([
      `1 of the 1 TCP ports ${first} to ${first} cannot be bound now: ${first}.`,
    ])
    expect(found(report, 'UDP ports', 'ok')).toHaveLength(2)
  })

  test('ports that have a name below the root host, and a range that strangers must not have', async () => {
    const first = await freePort()
    const range = { TCP_ENABLED: 'true', MIN_PORT: `${first}`, MAX_PORT: `${first}` }
    const named = async (PORT_HOST: string): Promise<readonly string[]> =>
      found(await reportOf(await environment({ ...range, PORT_HOST })), 'TCP ports', 'warning')
    expect(await named('ports.example')).toEqual([])
    expect(await named('ports.relay.localhost')).toEqual([
      expect.stringMatching(
        /^Dedicated ports are named ports\.relay\.localhost, where browsers share cookies/,
      ),
    ])
    const low = await reportOf(await environment({ ...range, MIN_PORT: '25' }))
    expect(JSON.stringify(low)).toContain('25 is below 1024')
  })

  test('files of the root host that are not there', async () => {
    const env = await environment({ SVC_SITE_DIR: directory, SVC_INSTALL_DIR: directory })
    const report = await reportOf(env)
    expect(report.ok).toBe(true)
    expect(found(report, 'pages', 'warning')).toEqual([
      `SVC_SITE_DIR: ${directory} has no index.html that the relay can read.`,
    ])
    expect(found(report, 'installer', 'warning')).toEqual([
      expect.stringContaining('has no bin/SHA256SUMS with downloads'),
    ])
  })

  test('downloads of the installer', async () => {
    const SVC_INSTALL_DIR = join(directory, 'downloads')
    await writeDownloads(SVC_INSTALL_DIR, { 'linux-amd64': '', 'svc.mjs': '' })
    const env = await environment({ SVC_INSTALL_DIR })
    expect(found(await reportOf(env), 'installer', 'ok')).toEqual([
      `The relay installs svc from ${SVC_INSTALL_DIR} for linux-amd64, node.`,
    ])
    await rm(join(SVC_INSTALL_DIR, 'bin/svc.mjs.gz'))
    expect(found(await reportOf(env), 'installer', 'warning')).toEqual([
      `${SVC_INSTALL_DIR} lacks bin/svc.mjs.gz.`,
    ])
  })
})

describe('beside the relay of the same settings', () => {
  wholeOnly(test, 'variant')(
    'check says so, --restart allows it, and healthcheck tells that it serves',
    async () => {
      const relay = await startRelayProcess()
      closing.push(() => relay.close())
      const env = { SVC_URL: relay.origin, IDENTITY_PATH: relay.directory }
      const first = await svcRelay(['check'], env)
      expect(first.code).toBe(1)
      const running = `The relay of these settings runs already, at TCP port ${relay.port}`
      expect(first.stdout).toContain(running)
      expect(first.stdout).toMatch(/^A start would fail: \d errors?, \d warnings?\.$/m)
      const restart = await svcRelay(['check', '--restart'], env)
      expect(restart).toMatchObject({ code: 0, stdout: expect.stringContaining('a restart ends it first') })
      // One after the other: the relay must answer within its deadline, on a slow machine, too.
      const health = await svcRelay(['healthcheck'], env)
      expect(health).toEqual({ code: 0, stdout: 'svc-relay: ok\n', stderr: '' })
      // Nothing of the relay was touched.
      expect(relay.log.filter(({ level }) => Number(level) >= 40)).toEqual([])
    },
  )

  test('healthcheck fails for another host, another program, and without settings', async () => {
    const relay = await startTestRelay()
    closing.push(() => relay.close())
    const state = { IDENTITY_PATH: relay.directory }
    const fails = { code: 1, stdout: '', stderr: expect.stringMatching(/^svc-relay: [^\n]+\n$/) }
    const other = { ...state, SVC_URL: `https://other.localhost:${relay.port}` }
    const silent = await take(await freePort())
    silent.on('connection', (socket) => socket.end('no TLS'))
    const { port } = silent.address() as AddressInfo
    const wrong = { ...state, SVC_URL: `https://relay.localhost:${port}` }
    for (const env of [other, wrong])
      expect(await askHealth(readSettings(env))).toMatchObject({
        isServing: false,
        message: expect.stringMatching(/^[^\n]+$/),
      })
    expect(await svcRelay(['healthcheck'], {})).toEqual(fails)
  })
})
