// Differential: chains made at random, and what OpenSSL says of each. What is valid here is valid there.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { type CertificateOptions, PURPOSE, TestAuthority, USAGE } from '../../../tools/tls/test-authority.ts'
import { readPem } from '../../src/client-auth/pem.ts'
import type { TlsError } from '../../src/index.ts'
import { readCertificate } from '../../src/x509/certificate.ts'
import { validPath } from '../../src/x509/path.ts'
import { readRevocationList } from '../../src/x509/revocation-list.ts'
import { oneOf, type Random, random } from '../fuzz/random.ts'

const CHAINS: number = atDepth(400, 25)
const directory = mkdtempSync(join(tmpdir(), 'chains-'))
afterAll(() => rmSync(directory, { recursive: true }))

interface Chain {
  leaf: TestAuthority
  others: TestAuthority[]
  anchors: TestAuthority[]
  lists: string
  /** What differs from a good chain, to tell a failure. */
  faults: string[]
}

const past = new Date(Date.now() - 3_600_000)
const extension = (isCritical: boolean): CertificateOptions => ({
  more: [['2a0304', isCritical, Uint8Array.of(5, 0)]],
})

/** Faults for certificates of any kind, for those of CAs, and for clients'. Many are none. */
const OF_ALL: readonly (readonly [string, CertificateOptions])[] = [
  ['expired', { notBefore: new Date(0), notAfter: past }],
  ['forged', { isForged: true }],
  ['unknown', extension(false)],
  ['unknown critical', extension(true)],
  ['for servers', { purposes: [PURPOSE.serverAuth] }],
  ['for anything', { purposes: [PURPOSE.any] }],
  ['for clients', { purposes: [PURPOSE.clientAuth] }],
  ['for both', { purposes: [PURPOSE.serverAuth, PURPOSE.clientAuth] }],
  ['P-384', { key: 'P-384' }],
  ['Ed25519', { key: 'Ed25519' }],
  ['SHA-384', { signature: 'sha384' }],
  ['no key ids', { withoutKeyIds: true }],
]
const OF_CAS: readonly (readonly [string, CertificateOptions])[] = [
  ['no CA', { ca: false }],
  ['path length 0', { ca: 0 }],
  ['path length 1', { ca: 1 }],
  ['only for lists', { keyUsage: USAGE.crlSign }],
  ['only for certificates', { keyUsage: USAGE.keyCertSign }],
]
const OF_CLIENTS: readonly (readonly [string, CertificateOptions])[] = [
  ['for encipherment', { keyUsage: USAGE.keyEncipherment }],
  ['no purposes', { purposes: undefined }],
]

function makeChain(below: Random): Chain {
  const faults: string[] = []
  const some = (of: string, ...lists: (typeof OF_ALL)[]): CertificateOptions => {
    if (below(3) > 0) return {}
    const [fault, options] = oneOf(oneOf(lists, below), below)
    faults.push(`${of} ${fault}`)
    return options
  }
  const root = TestAuthority.root({ name: 'Root', ...some('root', OF_ALL.slice(2), OF_CAS.slice(1)) })
  const cas = [root]
  for (let i = below(3); i > 0; i--)
    cas.push(cas.at(-1)!.intermediate({ name: `CA ${i}`, ...some(`CA ${i}`, OF_ALL, OF_CAS) }))
  const leaf = cas.at(-1)!.client(some('client', OF_ALL, OF_CLIENTS))
  const others = cas.slice(1).filter(() => below(12) > 0)
  const anchors = below(6) === 0 ? [cas.at(-1)!] : below(6) === 0 ? cas : [root]
  if (below(10) === 0) others.push(TestAuthority.root({ name: 'Root' }))
  let lists = ''
  if (below(3) === 0)
    for (const ca of cas) {
      const revoked = below(6) === 0 ? [leaf, ...cas].slice(0, 1 + below(2)) : []
      const old = below(10) === 0 ? { thisUpdate: new Date(0), nextUpdate: past } : {}
      if (below(12) > 0) lists += ca.revocationList(revoked, old)
    }
  return { leaf, others, anchors, lists, faults }
}

async function oursOf({ leaf, others, anchors, lists }: Chain): Promise<string> {
  try {
    await validPath([readCertificate(leaf.der), ...others.map(({ der }) => readCertificate(der))], {
      anchors: anchors.map(({ der }) => readCertificate(der)),
      revocationLists: lists === '' ? undefined : readPem(lists, 'X509 CRL').map(readRevocationList),
      now: Date.now(),
    })
    return 'valid'
  } catch (error) {
    return (error as TlsError).code
  }
}

/** As Node's `tls` has it: for clients, with trusted certificates that need not be roots, and lists for the whole path. */
async function opensslOf({ leaf, others, anchors, lists }: Chain, index: number): Promise<string> {
  const file = (name: string, content: string): string => {
    const path = join(directory, `${index}-${name}.pem`)
    writeFileSync(path, content)
    return path
  }
  const pem = (list: readonly TestAuthority[]): string => list.map((one) => one.pem).join('')
  const options = ['-partial_chain', '-purpose', 'sslclient', '-CAfile', file('ca', pem(anchors))]
  if (others.length > 0) options.push('-untrusted', file('others', pem(others)))
  if (lists !== '') options.push('-crl_check_all', '-CRLfile', file('lists', lists))
  return new Promise((resolve) => {
    execFile('openssl', ['verify', ...options, file('leaf', leaf.pem)], (error, _, stderr) =>
      resolve(error ? (/^error (.*)$/m.exec(stderr)?.[1] ?? stderr) : 'valid'),
    )
  })
}

/** Where this verifier is stricter: the certificate's key must be for signatures (RFC 8446 §4.4.2.2 as for servers). */
const STRICTER: readonly string[] = ['client for encipherment']

test(`${CHAINS} chains`, async () => {
  const below = random(TEST_SEED)
  const counts = { valid: 0, refused: 0 }
  for (let index = 0; index < CHAINS; index++) {
    const chain = makeChain(below)
    const [ours, openssl] = await Promise.all([oursOf(chain), opensslOf(chain, index)])
    const told = { index, faults: chain.faults, ours, openssl }
    const isStricter = chain.faults.some((fault) => STRICTER.includes(fault))
    if (ours === 'valid') expect(openssl, JSON.stringify(told)).toBe('valid')
    else if (!isStricter) expect(openssl, JSON.stringify(told)).not.toBe('valid')
    counts[ours === 'valid' ? 'valid' : 'refused']++
  }
  expect(counts.valid).toBeGreaterThan(CHAINS / 10)
  expect(counts.refused).toBeGreaterThan(CHAINS / 10)
})
