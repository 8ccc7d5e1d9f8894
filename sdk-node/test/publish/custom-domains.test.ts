// Custom domains at a real relay, with certificates of pebble: as their owner sets them up, and what a relay cannot do there.

import { execFile } from 'node:child_process'
import { randomBytes, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { identityFromKey, type PlatformSite, type Site, type SiteDomain } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCa, createLeaf } from '../../../relay/src/core/certificates/development-ca.ts'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import { type AcmeFront, startAcmeFront } from '../../../tools/network/acme-front.ts'
import { freePort } from '../../../tools/network/free-port.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../tools/programs/pebble.ts'
import { startTestRelay, type TestRelay } from '../../../tools/relay/test-relay.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { expose } from '../../src/index.ts'
import { type NodePublishOptions, type NodeSite, publish } from '../../src/publish.ts'

/** Each test has a domain of its own below it, since the relay remembers who owns one. */
const ZONE = 'example.test'
const run = promisify(execFile)

describe.skipIf(!hasAcmeServer())('custom domains', () => {
  let folder: string
  let acme: AcmeServer
  let front: AcmeFront
  let dns: DnsServer
  let relay: TestRelay
  let port: number
  let rootFile: string
  const trusted = getCACertificates('default')
  const sites: NodeSite[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-domains-'))
    port = await freePort()
    dns = await startDnsServer()
    acme = await startAcmeServer({ tlsPort: port, hosts: [ZONE] })
    front = await startAcmeFront(acme, dns)
    relay = await startTestRelay({ port, env: { CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` } })
    rootFile = join(folder, 'pebble.pem')
    await writeFile(rootFile, await acme.root())
    // As NODE_EXTRA_CA_CERTS does.
    setDefaultCACertificates([...trusted, front.ca])
  })
  afterEach(async () => {
    await Promise.all(sites.splice(0).map((site) => site.close()))
    dns.records.clear()
  })
  afterAll(async () => {
    setDefaultCACertificates(trusted)
    await relay.stop()
    await Promise.all([front.close(), acme.close(), dns.close()])
    await rm(folder, { recursive: true })
  })

  const publishAt = async (options: Partial<NodePublishOptions> & { name: string }): Promise<NodeSite> => {
    const domain = `${options.name}.${ZONE}`
    const site = await publish({
      relay: relay.url,
      ca: readFileSync(relay.caFile),
      identityPath: join(folder, `${options.name}.json`),
      fetch: (request) => new Response(`hello at ${new URL(request.url).host}`),
      domains: [domain],
      acme: { agreeTerms: true, directory: front.directoryUrl },
      ...options,
    })
    sites.push(site)
    return site
  }
  /** Does what the owner of the domain has to do. */
  const setRecords = ({ dns: { records } }: SiteDomain): void => {
    for (const { type, name, value } of records) dns.records.set(`${name} ${type}`, [value])
  }
  const setRecordsFor = (name: string, key: Uint8Array): void => {
    const address = identityFromKey(key).address.toLowerCase()
    dns.records.set(`_svc.${name}.${ZONE} TXT`, [`svc-address=${address}`])
    dns.records.set(`${name}.${ZONE} CNAME`, [new URL(relay.url).hostname])
  }
  const until = (site: Site, fits: (domain: SiteDomain) => boolean): Promise<SiteDomain> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(JSON.stringify(site.domains))), 20_000)
      const look = (): void => {
        const [domain] = site.domains ?? []
        if (!domain || !fits(domain)) return
        clearTimeout(late)
        site.removeEventListener('domainschange', look)
        resolve(domain)
      }
      site.addEventListener('domainschange', look)
      look()
    })
  const curl = async (domain: string, ...more: string[]): Promise<string> => {
    const url = `https://${domain}:${port}/`
    const args = [
      '--silent',
      '--show-error',
      '--resolve',
      `${domain}:${port}:127.0.0.1`,
      '--cacert',
      rootFile,
    ]
    return (await run('curl', [...args, ...more, url], { timeout: 60_000 })).stdout
  }

  it.each(atDepth<readonly ('websocket' | 'native')[]>(['websocket', 'native'], ['websocket']))(
    'serves a domain by %s as soon as its owner has set the records that the site names',
    async (carrier) => {
      const domain = `shop-${carrier}.${ZONE}`
      const site = await publishAt({ name: `shop-${carrier}`, carrier })
      expect(site.domains).toMatchObject([{ domain, certificate: { state: 'missing' }, online: false }])
      setRecords(await until(site, ({ dns }) => dns.records.length > 1))
      const { dns: state, protected: isProtected } = await until(site, ({ online }) => online)
      expect([state.state, isProtected]).toEqual(['active', false])
      expect(await curl(domain, '--write-out', ' %{http_version}')).toBe(`hello at ${domain}:${port} 2`)
      expect(await curl(domain, '--http1.1')).toBe(`hello at ${domain}:${port}`)
      // The names of the relay are served as before, and keep their own certificate.
      await expect(curl(domain, '--cacert', relay.caFile)).rejects.toThrow()
      const caa = site.domains![0]!.dns.records.find(({ type }) => type === 'CAA')
      expect(caa?.value).toMatch(
        /^0 issue "acme\.test; accounturi=https:\/\/\S+; validationmethods=tls-alpn-01"$/,
      )
    },
  )

  it('keeps keys and certificate in files of the owner alone, and orders none again', async () => {
    const key = Uint8Array.from(randomBytes(32))
    setRecordsFor('kept', key)
    const options = { name: 'kept', identity: key, identityPath: join(folder, 'kept.json') }
    const first = await publishAt(options)
    const { certificate } = await until(first, ({ online }) => online)
    await first.close()
    const files = (await readdir(folder)).filter((name) => name.startsWith('kept-'))
    expect(files).toHaveLength(2)
    for (const name of files) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
    const before = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
    const next = await publishAt(options)
    const again = await until(next, ({ online }) => online)
    expect(again.certificate.expiresAt).toBe(certificate.expiresAt)
    expect(await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).toEqual(before)
  })

  it('orders one certificate for a site at several relays, and proves the domain at each of them', async () => {
    const domain = `several.${ZONE}`
    const other = await startTestRelay({ env: { CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` } })
    const [otherPort, orders] = [new URL(other.url).port, front.orders]
    const options = {
      ca: `${readFileSync(other.caFile, 'utf8')}${readFileSync(relay.caFile, 'utf8')}`,
      identityPath: join(folder, 'several.json'),
      fetch: () => new Response('hello'),
      domains: [domain],
      acme: { agreeTerms: true, directory: front.directoryUrl } as const,
    }
    // The authority comes to the second relay alone.
    const exposure = await expose({ ...options, relays: [other.url, relay.url], name: 'several' })
    const [one, two] = exposure.sites as [PlatformSite, PlatformSite]
    setRecords(await until(one, ({ dns }) => dns.records.length > 1))
    for (const site of [one, two]) await until(site, ({ online }) => online)
    expect(front.orders - orders).toBe(1)
    expect(
      await curl(domain, '--resolve', `${domain}:${otherPort}:127.0.0.1`, `https://${domain}:${otherPort}/`),
    ).toBe('hellohello')
    await exposure.close()
    await other.stop()
  })

  it('serves a domain with a certificate that its owner brings, without an authority', async () => {
    const domain = `brought.${ZONE}`
    const authority = createCa(domain)
    const certificate = createLeaf(authority, domain, [domain])
    const [key, orders] = [Uint8Array.from(randomBytes(32)), front.orders]
    setRecordsFor('brought', key)
    const domains = [{ domain, certificate }]
    const options = { identity: key, identityPath: undefined, acme: undefined }
    const site = await publishAt({ ...options, name: 'brought', domains })
    const { certificate: shown, protected: isProtected } = await until(site, ({ online }) => online)
    const { validTo } = new X509Certificate(certificate.chain)
    expect([shown.expiresAt, isProtected]).toEqual([Date.parse(validTo), false])
    const caFile = join(folder, 'brought.pem')
    await writeFile(caFile, authority.certificate)
    const visit = ['--cacert', caFile, '--write-out', ' %{http_version}']
    expect(await curl(domain, ...visit)).toBe(`hello at ${domain}:${port} 2`)
    await expect(curl(domain)).rejects.toThrow(/certificate/)
    expect(front.orders).toBe(orders)
    // The key of another certificate is seen before the relay is asked.
    const other = [{ domain, certificate: { ...certificate, key: createLeaf(authority, domain).key } }]
    await expect(publishAt({ ...options, name: 'brought', domains: other })).rejects.toThrow(
      /the key is that of another certificate/,
    )
  })

  it('tells that CAA forbids every other account, as a relay or a thief of the domain has one', async () => {
    const key = Uint8Array.from(randomBytes(32))
    setRecordsFor('caa', key)
    const first = await publishAt({ name: 'caa', identity: key, identityPath: join(folder, 'caa.json') })
    await until(first, ({ online }) => online)
    await first.close()
    const stored = (await readdir(folder)).find((name) => name.startsWith('caa-acme-account@'))!
    const { text } = JSON.parse(await readFile(join(folder, stored), 'utf8'))
    front.allowedAccount = JSON.parse(text).account
    // The same identity with another account, since its files are lost.
    const other = await publishAt({ name: 'caa', identity: key, identityPath: join(folder, 'lost.json') })
    const { certificate, online } = await until(other, ({ certificate }) => certificate.state === 'failed')
    expect([certificate.error, online]).toEqual([expect.stringMatching(/CAA record .* accounturi/), false])
    await expect(curl(`caa.${ZONE}`)).rejects.toThrow(/unrecognized name|alert/)
    front.allowedAccount = undefined
  })

  it('refuses what cannot be combined, and says so', async () => {
    const refused = (options: object): Promise<unknown> => publishAt({ name: 'refused', ...options })
    await expect(refused({ acme: undefined })).rejects.toThrow(/needs a certificate: set acme/)
    await expect(
      refused({ identity: Uint8Array.from(randomBytes(32)), identityPath: undefined }),
    ).rejects.toThrow(/domains need identityPath/)
    await expect(refused({ relay: undefined, route: [relay.url, relay.url] })).rejects.toThrow(
      /route and domains/,
    )
  })
})
