// `svc expose --domain` at a real relay whose DNS is a test's: the records to set, and the state of the domain when they are there.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import { freePort } from '../../../tools/network/free-port.ts'
import { exposeOptions } from '../../src/cli/commands/expose-options.ts'
import { parseConfig } from '../../src/cli/config/read-config.ts'
import { accountRecords } from '../../src/domain-records/acme-accounts.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { runHere } from '../support/svc.ts'

const DOMAIN = 'shop.example.test'
const SECOND = 'blog.example.test'
const TIMEOUT_MS = 60_000

let home: string
let dns: DnsServer
let relay: TestRelay

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-domains-'))
  dns = await startDnsServer()
  relay = await startTestRelay({ CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` })
}, TIMEOUT_MS)
afterAll(async () => {
  await relay?.close()
  await dns?.close()
  await rm(home, { recursive: true })
})

const identityPath = (): string => join(home, 'identity.json')

describe('svc expose --domain', () => {
  it('says which records to set, and when they lead to the relay', { timeout: TIMEOUT_MS }, async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    await vi.waitUntil(() => server.listening)
    const { port } = server.address() as { port: number }
    const run = runHere(home, [
      ...['expose', `${port}`, '--relay', relay.origin, '--ca', relay.caFile, '--json'],
      ...['--identity-path', identityPath(), '--domain', DOMAIN, '--acme-agree-terms'],
      ...['--acme-directory', `https://127.0.0.1:${await freePort()}/directory`],
    ])
    const states = () => run.out.map((line) => JSON.parse(line)).filter(({ event }) => event === 'domain')
    const last = () => states().at(-1)
    try {
      await vi.waitUntil(() => last()?.state === 'pending' && last().records.length > 0, {
        timeout: TIMEOUT_MS,
      })
      expect(last()).toMatchObject({ domain: DOMAIN, relay: relay.origin, online: false, protected: false })
      const proof = last().records.find(({ type }: { type: string }) => type === 'TXT')
      dns.records.set(`${proof.name} TXT`, [proof.value])
      dns.records.set(`${DOMAIN} A`, ['127.0.0.1'])
      await vi.waitUntil(() => last()?.state === 'active', { timeout: TIMEOUT_MS })
      await vi.waitUntil(() => last()?.certificate === 'failed', { timeout: TIMEOUT_MS })
      expect(last()).toMatchObject({ online: false, error: expect.any(String) })
      const status = runHere(home, ['status', '--json'])
      await status.ended
      const { domains } = JSON.parse(status.out[0]!)
      expect(domains).toMatchObject([{ domain: DOMAIN, state: 'active', certificate: 'failed' }])
    } finally {
      await run.stop()
      server.close()
    }
  })

  it('says that another site of the same identity serves the domain', { timeout: TIMEOUT_MS }, async () => {
    const [homeOfOther, port] = [await mkdtemp(join(tmpdir(), 'svc-domains-')), await freePort()]
    const start = (folder: string, name: string) =>
      runHere(folder, [
        ...['expose', `${port}`, '--name', name, '--relay', relay.origin, '--ca', relay.caFile],
        ...['--identity-path', identityPath(), '--domain', SECOND, '--acme-agree-terms'],
        ...['--acme-directory', `https://127.0.0.1:${port}/directory`],
      ])
    const first = start(home, 'first')
    const lines = (run: typeof first): string => [...run.out, ...run.err].join('\n')
    const wait = { timeout: TIMEOUT_MS }
    try {
      await vi.waitUntil(() => /TXT svc-address=/.test(lines(first)), wait)
      const [, value = ''] = /TXT (svc-address=0x[0-9a-f]{40})/.exec(lines(first)) ?? []
      dns.records.set(`_svc.${SECOND} TXT`, [value])
      dns.records.set(`${SECOND} A`, ['127.0.0.1'])
      await vi.waitUntil(() => lines(first).includes(`${SECOND}: no certificate`), wait)
      const second = start(homeOfOther, 'second')
      const told = `${SECOND}: your other site first serves it, until that one stops asking for it`
      await vi.waitUntil(() => lines(second).split('\n').includes(told), wait)
      await second.stop()
    } finally {
      await first.stop()
      await rm(homeOfOther, { recursive: true })
    }
  })

  it('needs the consent to the terms, or a certificate', async () => {
    const messageOf = async (...args: string[]): Promise<string> => {
      const run = runHere(home, [
        'expose',
        '3000',
        '--relay',
        relay.origin,
        '--identity-path',
        identityPath(),
        ...args,
      ])
      expect(await run.ended).toBe(2)
      return run.err.join('\n')
    }
    expect(await messageOf('--domain', DOMAIN)).toContain('--acme-agree-terms')
    expect(await messageOf('--acme-agree-terms')).toContain('are for --domain')
    expect(await messageOf('--domain', DOMAIN, '--domain-key', 'key.pem')).toContain('belong together')
    expect(await messageOf('--domain', DOMAIN, '--acme-agree-terms', '--acme-eab', 'id')).toContain('ID=KEY')
    expect(await messageOf('--domain', '*.example.test', '--acme-agree-terms')).toContain('wildcard')
  })

  it('is configured in svc.toml in the same way', async () => {
    await writeFile(join(home, 'eab.txt'), 'c2VjcmV0\n')
    const toml = `
relay = "https://relay.test"
acme_agree_terms = true
acme_email = "a@b.test"
acme_directory = "https://ca.test/directory"
acme_eab = "kid-1=file:eab.txt"
[[tunnel]]
http = 3000
domains = ["${DOMAIN}", "www.example.test"]
`
    const context = { env: {}, remembered: {}, identityPath }
    const { tunnels } = await parseConfig(join(home, 'svc.toml'), toml, context)
    expect(await exposeOptions(tunnels[0]!.command)).toMatchObject({
      domains: [DOMAIN, 'www.example.test'],
      acme: {
        agreeTerms: true,
        email: 'a@b.test',
        directory: 'https://ca.test/directory',
        externalAccountBinding: { keyId: 'kid-1', hmacKey: 'c2VjcmV0' },
      },
    })
  })
})

it('names the accounts of an identity in CAA records', async () => {
  const file = (host: string, text: object): Promise<void> =>
    writeFile(
      join(home, `other-acme-account@${host}.json`),
      JSON.stringify({ private_key: 'pem', text: JSON.stringify(text) }),
      { mode: 0o600 },
    )
  await file('ca.test', { account: 'https://ca.test/1', authorities: ['ca.test', 'old-ca.test'], orders: [] })
  await file('unmade.test', { authorities: [], orders: [] })
  expect(await accountRecords(join(home, 'other.json'))).toEqual([
    '0 issue "ca.test; accounturi=https://ca.test/1; validationmethods=tls-alpn-01"',
  ])
  expect(await accountRecords(join(home, 'missing/other.json'))).toEqual([])
})
