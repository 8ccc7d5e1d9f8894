// `svc doctor` at a real relay: it says for each hostname of a site whether visitors see what this machine keeps.

import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createCa, createLeafFor } from '../../../../relay/src/core/certificates/development-ca.ts'
import { useStarted } from '../../../../tools/use-started.ts'
import { publish, type Site } from '../../../src/index.ts'
import { TEST_TIMEOUT_MS } from '../../support/exposed.ts'
import { startTestRelay } from '../../support/relay.ts'
import { runHere } from '../../support/svc.ts'

let home: string
let identityPath: string
const sites: Site[] = []

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-doctor-'))
  identityPath = join(home, 'identity.json')
})
afterAll(async () => {
  await Promise.all(sites.map((site) => site.close()))
  await rm(home, { recursive: true })
})

/** Publishes a site, and waits for its own certificate where it is to have one. */
async function online(name: string, certificate: 'own' | 'shared' = 'own'): Promise<void> {
  const own = Promise.withResolvers<void>()
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identityPath,
    name,
    certificate,
    fetch: () => new Response('hello'),
    debug: ({ type }) => type === 'certificate' && own.resolve(),
  })
  sites.push(site)
  if (certificate === 'own') await own.promise
  // The file is written after the certificate is in use.
  const hasChain = async () => expect(await readFile(fileOf(name), 'utf8')).toContain('BEGIN CERTIFICATE')
  if (certificate === 'own') await vi.waitFor(hasChain, { timeout: TEST_TIMEOUT_MS })
}

const fileOf = (name: string): string => join(home, `identity-${name}@relay.localhost_${relay.port}.pem`)

interface Said {
  url: string
  verdict: string
  message: string
  certificate?: string
  advice?: string
}

async function doctor(
  name: string,
  ...args: string[]
): Promise<{ said: Said[]; lines: string[]; code: number }> {
  const trust = args.includes('--untrusting') ? [] : ['--ca', relay.caFile]
  const where = ['--relay', relay.origin, '--identity-path', identityPath, '--name', name, ...trust]
  const run = runHere(home, ['doctor', ...where, '--json'])
  const code = await run.ended
  return { code, lines: run.err, said: run.out.map((line) => JSON.parse(line)) }
}

describe('svc doctor says', () => {
  it("that visitors see the site's own certificate at both hostnames", async () => {
    await online('well')
    const { said, code } = await doctor('well')
    expect(said.map(({ url }) => url)).toEqual([
      `https://well.relay.localhost:${relay.port}`,
      expect.stringMatching(/^https:\/\/well-[0-9a-f]{40}\.relay\.localhost/),
    ])
    expect(said.map(({ verdict }) => verdict)).toEqual(['own', 'own'])
    const { serialNumber } = new X509Certificate(await readFile(fileOf('well')))
    expect(said[0]!.certificate).toContain(serialNumber)
    expect(said[0]!.advice).toBeUndefined()
    expect(code).toBe(0)
  })

  it("that they see the relay's, where the site has none", async () => {
    await online('shared', 'shared')
    const { said, code } = await doctor('shared')
    expect(said.map(({ verdict }) => verdict)).toEqual(['shared', 'shared'])
    expect(said[0]!.message).toMatch(/the relay signs for each visitor/)
    expect(await readdir(home)).not.toContain(basename(fileOf('shared')))
    expect(code).toBe(0)
  })

  it('that they see another key than the one that this machine keeps', async () => {
    await online('foreign')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    await writeFile(fileOf('foreign'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const { said, code } = await doctor('foreign')
    expect(said[0]).toMatchObject({
      verdict: 'other_key',
      message: expect.stringMatching(/neither the site's own nor the relay's$/),
    })
    await rm(fileOf('foreign'))
    expect((await doctor('foreign')).said[0]!.message).toMatch(/this machine has no key of the site$/)
    expect(code).toBe(8)
  })

  it('that they see another certificate of the same key, or a chain that lacks one', async () => {
    await online('older')
    const kept = await readFile(fileOf('older'), 'utf8')
    await writeFile(fileOf('older'), kept.slice(0, kept.indexOf('-----BEGIN CERTIFICATE')))
    expect((await doctor('older')).said[0]).toMatchObject({
      verdict: 'other_certificate',
      message: expect.stringMatching(/this machine keeps none$/),
    })
    const other = await readFile(fileOf('well'), 'utf8')
    await writeFile(fileOf('older'), kept + other.slice(other.indexOf('-----BEGIN CERTIFICATE')))
    const { said, code } = await doctor('older')
    expect(said[0]).toMatchObject({
      verdict: 'other_chain',
      message: expect.stringMatching(/but without CN=.*, which some clients need$/),
    })
    expect(code).toBe(8)
  })

  it('that they refuse it, and why', async () => {
    const { said, code } = await doctor('well', '--untrusting')
    expect(said[0]).toMatchObject({
      verdict: 'untrusted',
      message: expect.stringMatching(/UNABLE_TO|unable to/i),
    })
    expect(code).toBe(8)
  })

  it('that nothing answers', async () => {
    const { said, code } = await doctor('nobody')
    expect(said.map(({ verdict }) => verdict)).toEqual(['unreachable', 'unreachable'])
    expect(code).toBe(8)
  })

  it('what is wrong with the command line or the file, in one line', async () => {
    expect(await doctor('no name')).toMatchObject({
      code: 2,
      said: [{ event: 'failed', code: 'invalid_option' }],
    })
    await writeFile(fileOf('broken'), 'nonsense', { mode: 0o600 })
    expect(await doctor('broken')).toMatchObject({
      said: [{ event: 'failed', code: 'certificate_unavailable', message: expect.stringMatching(/broken@/) }],
    })
  })
})

describe('svc doctor at a custom domain', () => {
  const DOMAIN = 'shop.localhost'
  const authority = createCa('localhost')
  const keyOf = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  const chainOf = (key: KeyObject): string =>
    createLeafFor(authority, createPublicKey(key).export({ type: 'spki', format: 'der' }), [DOMAIN])
  const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

  // This machine trusts neither CA: the key decides first.
  it.each(['untrusted', 'suspected'] as const)('says %s', async (verdict) => {
    const [kept, other] = [keyOf(), keyOf()]
    const shown = verdict === 'untrusted' ? kept : other
    const server = createServer({ key: pem(shown), cert: chainOf(shown) }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const path = join(home, `domain-${DOMAIN}@acme.test.json`)
    const text = JSON.stringify({ chain: ['AAAA'] })
    await writeFile(path, JSON.stringify({ private_key: pem(kept), text }), { mode: 0o600 })
    try {
      const { port } = server.address() as AddressInfo
      const where = [
        '--relay',
        `https://relay.localhost:${port}`,
        '--identity-path',
        join(home, 'domain.json'),
      ]
      const run = runHere(home, ['doctor', ...where, '--json'])
      expect(await run.ended).toBe(8)
      const said: Said[] = run.out.map((line) => JSON.parse(line))
      expect(said.at(-1)).toMatchObject({ url: `https://${DOMAIN}:${port}`, verdict })
    } finally {
      server.close()
      await rm(path)
    }
  })
})
