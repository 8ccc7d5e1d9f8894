// Orders at pebble, a real ACME server that rejects a fifth of the nonces, by both challenges.

import { X509Certificate } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test as every, expect } from 'vitest'
import { freePort } from '../../../../tools/network/free-port.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { peekClientHello } from '../../../src/core/ingress/client-hello.ts'
import { AcmeError, type CertificateOrder } from '../../../src/features/acme/authority.ts'
import { createRequest } from '../../../src/features/acme/client.ts'
import type { RelayAuthority } from '../../../src/features/acme/create-authority.ts'
import { TlsAlpnProver } from '../../../src/features/acme/tls-alpn.ts'
import type { DnsProvider } from '../../../src/features/dns/provider.ts'
import { newKey } from './keys.ts'
import { newAuthority } from './test-authority.ts'
import { unboundProvider } from './unbound-provider.ts'

const test = wholeOnly(every, 'variant')

const HOST = 'relay.test'
/** A host that nothing else is ordered for, so that none of its names is authorized before. */
const WILD_HOST = 'wild.test'
const RECORD = `_acme-challenge.${WILD_HOST}`

describe.skipIf(!hasAcmeServer())('an order', () => {
  let acme: AcmeServer
  let directory: string
  let listener: Server
  const prover = new TlsAlpnProver()
  const open: RelayAuthority[] = []
  /** What became of the orders, as the budget is told. */
  let told: string[] = []

  beforeAll(async () => {
    const tlsPort = await freePort()
    const options = { nonceRejectPercent: 20, authorizationReusePercent: 50 }
    acme = await startAcmeServer({ tlsPort, hosts: [HOST, WILD_HOST], ...options })
    listener = createServer(async (socket) => {
      const hello = await peekClientHello(socket, performance.now() + 10_000)
      if (hello === undefined) return
      socket.unshift(hello.received)
      if (!prover.serve(socket, hello.serverName ?? '')) socket.destroy()
    })
    await once(listener.listen(tlsPort, '127.0.0.1'), 'listening')
  })
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-acme-'))
    told = []
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((authority) => authority.close()))
    await rm(directory, { recursive: true })
  })
  afterAll(async () => {
    listener.close()
    await acme.close()
  })

  const authorityWith = async (
    env: Record<string, string> = {},
    dns?: DnsProvider,
  ): Promise<RelayAuthority> => {
    const authority = await newAuthority({
      host: HOST,
      directory,
      directoryUrl: acme.directoryUrl,
      caFile: acme.caFile,
      env,
      budget: {
        take: async () => void told.push('take'),
        failed: async (_order, error) => void told.push(`failed ${(error as AcmeError).fault}`),
        abandoned: async () => void told.push('abandoned'),
        mayBeIssued: () => {},
        succeeded: async () => void told.push('succeeded'),
      },
      tlsAlpn: prover,
      dns,
    })
    open.push(authority)
    return authority
  }
  const orderOf = async (...names: string[]): Promise<CertificateOrder> => ({
    names,
    csr: await createRequest(names, newKey()),
    for: 'root',
  })
  const errorOf = async (promise: Promise<unknown>): Promise<AcmeError> => {
    const error = await promise.then(
      () => undefined,
      (reason) => reason,
    )
    expect(error).toBeInstanceOf(AcmeError)
    expect(error.message).not.toMatch(/[\r\n]/)
    return error
  }
  const registration = async (): Promise<string> =>
    await readFile(join(directory, 'acme-registration.json'), 'utf8')

  test('by tls-alpn-01 gets a chain, whose account and its key stay', async () => {
    const authority = await authorityWith({ ACME_EMAIL: 'operator@relay.test' })
    expect(authority.hasWildcards).toBe(false)
    const [chain, other] = await Promise.all([
      authority.obtain(await orderOf(HOST)),
      authority.obtain(await orderOf(`a.${HOST}`, `b.${HOST}`)),
    ])
    expect(new X509Certificate(chain).subjectAltName).toBe(`DNS:${HOST}`)
    expect(new X509Certificate(other).subjectAltName).toBe(`DNS:a.${HOST}, DNS:b.${HOST}`)
    expect(told).toEqual(['take', 'take', 'succeeded', 'succeeded'])
    expect((await stat(join(directory, 'acme-account.key'))).mode & 0o777).toBe(0o600)
    const before = await registration()
    const later = await authorityWith()
    await later.obtain(await orderOf(`c.${HOST}`))
    expect(await registration()).toBe(before)
  })

  test('by dns-01 gets root and wildcard at once, with two values at one name that are removed', async () => {
    const provider = unboundProvider(acme.resolver)
    const authority = await authorityWith({}, provider)
    expect(authority.hasWildcards).toBe(true)
    const chain = await authority.obtain(await orderOf(WILD_HOST, `*.${WILD_HOST}`))
    expect(new X509Certificate(chain).checkHost(`site.${WILD_HOST}`)).toBe(`*.${WILD_HOST}`)
    const twice = (change: string): string[] => [`${change} ${RECORD}`, `${change} ${RECORD}`]
    expect(provider.changes).toEqual([...twice('add'), ...twice('remove')])
    const resolver = new Resolver()
    resolver.setServers([acme.resolver.address])
    await expect(resolver.resolveTxt(RECORD)).rejects.toThrow(/ENOTFOUND|ENODATA/)
  })

  test('whose record the DNS provider does not take says so, and leaves none behind', async () => {
    const provider = unboundProvider(acme.resolver)
    provider.refuses = true
    const authority = await authorityWith({}, provider)
    const { fault, message } = await errorOf(authority.obtain(await orderOf(`*.other.${HOST}`)))
    expect(fault).toBe('dns_failed')
    expect(message).toBe(
      `the DNS provider unbound did not publish the TXT record _acme-challenge.other.${HOST}: the token is wrong`,
    )
    expect(told).toEqual(['take', 'failed dns_failed'])
    expect(provider.changes).toEqual([`remove _acme-challenge.other.${HOST}`])
  })

  test('with ACME_CHALLENGE=auto goes by what the provider can answer, from one look to the next', async () => {
    const provider = unboundProvider(acme.resolver)
    provider.answers = false
    const authority = await authorityWith({}, provider)
    expect(authority.hasWildcards).toBe(false)
    const { message } = await errorOf(authority.obtain(await orderOf(`*.${HOST}`)))
    expect(message).toContain('only dns-01 proves a wildcard')
    provider.answers = true
    await authority.refresh()
    expect(authority.hasWildcards).toBe(true)
    const byListener = await authorityWith({ ACME_CHALLENGE: 'tls-alpn-01' }, provider)
    expect(byListener.hasWildcards).toBe(false)
    await expect(authorityWith({ ACME_CHALLENGE: 'dns-01' })).rejects.toThrow(
      /ACME_CHALLENGE: dns-01 needs a DNS/,
    )
  })

  test('for a name that leads elsewhere says which name, and where it leads to', async () => {
    acme.resolver.add('elsewhere.example. 0 IN A 127.0.0.77')
    const authority = await authorityWith()
    const { fault, message } = await errorOf(authority.obtain(await orderOf('elsewhere.example')))
    expect(fault).toBe('validation_failed')
    expect(message).toMatch(
      /^elsewhere\.example could not be validated by tls-alpn-01: .*; here, elsewhere\.example /,
    )
    expect(told).toEqual(['take', 'failed validation_failed'])
  })

  test('of a relay that lost its account key makes another account', async () => {
    await (await authorityWith()).obtain(await orderOf(`d.${HOST}`))
    const before = await registration()
    await rm(join(directory, 'acme-account.key'))
    await (await authorityWith()).obtain(await orderOf(`e.${HOST}`))
    expect(await registration()).not.toBe(before)
  })

  test('goes on with a new account when the authority was restarted and knows nothing any more', async () => {
    const authority = await authorityWith()
    await authority.obtain(await orderOf(`f.${HOST}`))
    const before = await registration()
    await acme.restart()
    await authority.obtain(await orderOf(`g.${HOST}`))
    expect(await registration()).not.toBe(before)
  })

  test('ends in one line when the authority dies in the middle, and its records are removed', async () => {
    const provider = unboundProvider(acme.resolver)
    const addTxt: DnsProvider['addTxt'] = async (...record) => {
      await provider.addTxt(...record)
      await acme.kill()
    }
    const authority = await authorityWith({}, { ...provider, addTxt })
    try {
      expect((await errorOf(authority.obtain(await orderOf(WILD_HOST)))).fault).toBe('unreachable')
      expect(provider.changes).toEqual([`add ${RECORD}`, `remove ${RECORD}`])
    } finally {
      await acme.restart()
    }
    await (await authorityWith({}, provider)).obtain(await orderOf(WILD_HOST))
  })

  test('at an authority that does not answer, or is not trusted, says what to do', async () => {
    const nobody = await freePort()
    const absent = await authorityWith({ ACME_DIRECTORY: `https://localhost:${nobody}/dir` })
    expect(await errorOf(absent.obtain(await orderOf(HOST)))).toMatchObject({
      fault: 'unreachable',
      message: expect.stringMatching(
        `the ACME authority at localhost:${nobody} cannot be reached: .*ECONNREFUSED`,
      ),
    })
    const stranger = await authorityWith({ ACME_CA: '' })
    expect(await errorOf(stranger.obtain(await orderOf(HOST)))).toMatchObject({
      fault: 'unreachable',
      message: expect.stringContaining('has a certificate that is not trusted'),
    })
    await expect(authorityWith({ ACME_CA: '/nowhere' })).rejects.toThrow('ACME_CA: /nowhere does not exist')
    await writeFile(join(directory, 'acme-account.key'), 'no key', { mode: 0o600 })
    await expect(authorityWith()).rejects.toThrow(/^acme-account\.key: is not PEM/)
  })

  test('that is given up, or whose relay closes, ends and is told as that', async () => {
    const authority = await authorityWith({}, { ...unboundProvider(acme.resolver), addTxt: untilAborted })
    const giveUp = new AbortController()
    const order = { ...(await orderOf(`h.${HOST}`)), signal: giveUp.signal }
    const obtained = errorOf(authority.obtain(order))
    setTimeout(() => giveUp.abort(), 100)
    expect((await obtained).message).toBe(`no certificate for h.${HOST}: the order was given up`)
    const closed = errorOf(authority.obtain(await orderOf(`i.${HOST}`)))
    setTimeout(() => void authority.close(), 100)
    expect((await closed).message).toContain('the relay is closing')
  })
})

function untilAborted(_name: string, _value: string, signal?: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}
