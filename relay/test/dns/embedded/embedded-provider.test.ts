// The embedded DNS provider, with its name server on a loopback address: the contract of providers, and what only it does.

import { Resolver } from 'node:dns/promises'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../tools/network/free-port.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { type EmbeddedDns, startEmbeddedDns } from '../../../src/features/dns/embedded/start-embedded.ts'
import type { DnsProvider } from '../../../src/features/dns/provider.ts'
import { readSettings } from '../../../src/settings.ts'
import { testProviderContract } from '../provider-contract.ts'

const HOST = 'relay.test'

interface Started extends EmbeddedDns {
  directory: string
  resolver: Resolver
  lines: { level: number; msg: string; ds?: string }[]
}

async function start(env: Record<string, string> = {}): Promise<Started> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-embedded-'))
  const address = env.DNS_ADDR ?? `127.0.0.1:${await freePort()}`
  const lines: Started['lines'] = []
  const embedded = await startEmbeddedDns({
    settings: readSettings({
      SVC_URL: `https://${HOST}`,
      IDENTITY_PATH: directory,
      DNS_ADDR: address,
      ...env,
    }),
    issuers: ['letsencrypt.org'],
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    resolvers: [address],
  })
  const resolver = new Resolver()
  resolver.setServers([address])
  return { ...embedded, directory, resolver, lines }
}

const none = (error: { code?: string }): never[] => {
  if (['ENODATA', 'ENOTFOUND'].includes(error.code ?? '')) return []
  throw error
}

testProviderContract('embedded', async () => {
  const { provider, resolver, directory } = await start()
  const broken = { fault: 'wrong_zone' as const, provider: () => outside(provider) }
  return {
    provider,
    host: HOST,
    txt: async (name) => (await resolver.resolveTxt(name).catch(none)).map((strings) => strings.join('')),
    addresses: async (name) => ({
      ipv4: await resolver.resolve4(name).catch(none),
      ipv6: await resolver.resolve6(name).catch(none),
    }),
    faults: { 'a name of another zone': broken },
    close: () => rm(directory, { recursive: true }),
  }
})

/** The provider for a name that is not in its zone. */
function outside(provider: DnsProvider): DnsProvider {
  return {
    ...provider,
    name: provider.name,
    addTxt: (_name, value) => provider.addTxt('relay.test.example', value),
    close: async () => {},
  }
}

describe('the embedded provider', () => {
  let embedded: Started
  beforeAll(async () => {
    embedded = await start()
  })
  afterAll(async () => {
    await embedded.provider.close()
    await rm(embedded.directory, { recursive: true })
  })

  test('prints the DS record at the start, with the words for the registrar', async () => {
    const line = embedded.lines.find(({ ds }) => ds !== undefined)
    expect(line?.ds).toMatch(/^relay\.test\. IN DS \d+ 13 2 [0-9A-F]{64}$/i)
    expect(line?.msg).toMatch(/ns1\.relay\.test and ns2\.relay\.test, with the relay's addresses as glue/)
    expect((await stat(path.join(embedded.directory, 'dnssec-csk.json'))).mode & 0o777).toBe(0o600)
    const { private_key } = JSON.parse(
      await readFile(path.join(embedded.directory, 'dnssec-csk.json'), 'utf8'),
    )
    expect(JSON.stringify(embedded.lines)).not.toContain(private_key)
  })

  test('is always pending, and has the DS record that it printed', async () => {
    const { state, dsRecord, message } = await embedded.provider.dnssec()
    expect(state).toBe('pending')
    expect(embedded.lines.map(({ ds }) => ds)).toContain(`${HOST}. IN DS ${dsRecord}`)
    expect(embedded.lines.map(({ msg }) => msg)).toContain(message)
  })

  test('names the authority that may issue certificates', async () => {
    const { resolver } = embedded
    expect(await resolver.resolveCaa(HOST)).toEqual([
      expect.objectContaining({ critical: 0, issue: 'letsencrypt.org' }),
    ])
  })

  test('takes other authorities, or every one, and answers with them at once', async () => {
    const { provider, resolver } = embedded
    const issuers = async (): Promise<unknown[]> => {
      const records = await resolver.resolveCaa(HOST).catch(none)
      return records.map(({ issue }) => issue).sort()
    }
    await provider.setIssuers(['ca.example', 'other-ca.example'])
    expect(await issuers()).toEqual(['ca.example', 'other-ca.example'])
    await provider.setIssuers([])
    expect(await issuers()).toEqual([])
    await provider.setIssuers(['letsencrypt.org'])
    expect(await issuers()).toEqual(['letsencrypt.org'])
  })

  test('a site with a TXT record of its own keeps the addresses of the wildcard', async () => {
    const { provider, resolver } = embedded
    await provider.setAddresses(`*.${HOST}`, { ipv4: ['192.0.2.1'], ipv6: ['2001:db8::1'] })
    await provider.addTxt(`demo.${HOST}`, 'text')
    expect(await resolver.resolve4(`demo.${HOST}`)).toEqual(['192.0.2.1'])
    expect(await resolver.resolve6(`demo.${HOST}`)).toEqual(['2001:db8::1'])
    await provider.addTxt(`_acme-challenge.other.${HOST}`, 'text')
    expect(await resolver.resolve4(`other.${HOST}`)).toEqual(['192.0.2.1'])
  })

  test('a change that the zone refuses is an error for its caller alone, and leaves no trace', async () => {
    const { provider, resolver } = embedded
    const refused = expect.objectContaining({ name: 'DnsProviderError', fault: 'unavailable' })
    const octets = 'x'.repeat(200)
    const name = `full.${HOST}`
    const values = Array.from({ length: 100 }, (_, index) => `${index}${octets}`)
    let taken = 0
    const adding = async (): Promise<void> => {
      for (const value of values) {
        await provider.addTxt(name, value)
        taken++
      }
    }
    await expect(adding()).rejects.toThrow(refused)
    await expect(provider.addTxt(name, values[taken]!)).rejects.toThrow(/have more than 16384 octets/)
    await expect(
      Promise.allSettled([
        provider.setAddresses(`ns1.${HOST}`, { ipv4: ['192.0.2.1'], ipv6: [] }),
        provider.addTxt(`beside.${HOST}`, 'text'),
      ]),
    ).resolves.toMatchObject([{ status: 'rejected', reason: refused }, { status: 'fulfilled' }])
    expect(await resolver.resolveTxt(`beside.${HOST}`)).toEqual([['text']])
    // A removal makes room for exactly one that was refused.
    await provider.removeTxt(name, values[0]!)
    await provider.addTxt(name, values[taken]!)
    expect(embedded.lines.filter(({ level }) => level >= 50)).toEqual([])
    const { records } = provider as unknown as { records(): Iterable<{ name: string }> }
    const kept = Array.from(records.call(provider), (change) => change.name)
    expect(kept).not.toContain(`ns1.${HOST}`)
    for (const value of values) await provider.removeTxt(name, value)
    await provider.removeTxt(`beside.${HOST}`, 'text')
  })

  test('of a change that the zone takes in part, nothing is left', async () => {
    const { provider, resolver } = embedded
    const name = `part.${HOST}`
    await provider.setAddresses(name, { ipv4: ['192.0.2.5'], ipv6: [] })
    const ipv6 = Array.from({ length: 2000 }, (_, index) => `2001:db8::${index.toString(16)}`)
    await expect(provider.setAddresses(name, { ipv4: ['192.0.2.6'], ipv6 })).rejects.toThrow(/octets/)
    expect(await resolver.resolve4(name)).toEqual(['192.0.2.5'])
    await provider.setAddresses(name, { ipv4: [], ipv6: [] })
  })

  test('cannot answer where the public DNS leads elsewhere, or nowhere', async () => {
    const other = await start({ SVC_URL: `https://other.${HOST}` })
    const { directory } = other
    try {
      // A server that has no such zone, and then one that is not there any more.
      const { provider } = await startElsewhere(other, embedded)
      expect(await provider.canAnswer()).toBe(false)
      await provider.close()
      expect(await provider.canAnswer(AbortSignal.abort())).toBe(false)
    } finally {
      await other.provider.close()
      await rm(directory, { recursive: true })
    }
  })
})

/** Another relay of the same host, which asks the first one's server. */
async function startElsewhere(other: Started, first: Started): Promise<EmbeddedDns> {
  return await startEmbeddedDns({
    settings: readSettings({
      SVC_URL: `https://other.${HOST}`,
      IDENTITY_PATH: other.directory,
      DNS_ADDR: `127.0.0.1:${await freePort()}`,
    }),
    issuers: [],
    log: createLog('silent'),
    resolvers: first.resolver.getServers(),
  })
}

test('a port that is taken is one line in the log, and the rest runs', async () => {
  const first = await start()
  const taken = first.resolver.getServers()[0]!
  const second = await start({ DNS_ADDR: taken })
  try {
    const problem = second.lines.find(({ level }) => level >= 50)
    expect(problem?.msg).toMatch(/another program has port \d+ of this address/)
    await second.provider.addTxt(`_acme-challenge.${HOST}`, 'text')
    expect(second.server.bound).toEqual([])
  } finally {
    for (const { provider, directory } of [first, second]) {
      await provider.close()
      await rm(directory, { recursive: true })
    }
  }
})
