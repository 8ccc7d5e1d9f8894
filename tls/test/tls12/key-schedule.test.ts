// The PRF of TLS 1.2 on the vectors that the TLS working group's list agreed on, and on OpenSSL's own.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { HASH } from '../../src/crypto/hash.ts'
import { Secrets } from '../../src/crypto/secrets.ts'
import { SUITES } from '../../src/tls12/cipher-suites.ts'
import { PreMasterSecret, prf } from '../../src/tls12/key-schedule.ts'
import { hex, toHex } from '../support/hex.ts'
import vectors from '../vectors/tls12-prf.json' with { type: 'json' }

const NAMES = ['SHA-256', 'SHA-384'] as const

test.each(NAMES)('RFC 5246 §5 PRF with %s', (name) => {
  const { secret, seed, label, output } = vectors.tests[name]
  const length = output.length / 2
  expect(toHex(prf(HASH[name], hex(secret), label, hex(seed), length))).toBe(output)
})

/** `openssl kdf`, which knows the same function as TLS1-PRF. */
function openssl(
  digest: string,
  secret: Uint8Array,
  label: string,
  seed: Uint8Array,
  length: number,
): string {
  const options = { digest, hexsecret: toHex(secret), seed: label, hexseed: toHex(seed) }
  const given = Object.entries(options).flatMap(([name, value]) => ['-kdfopt', `${name}:${value}`])
  const args = ['kdf', '-keylen', `${length}`, ...given, 'TLS1-PRF']
  return execFileSync('openssl', args).toString().replaceAll(':', '').trim().toLowerCase()
}

describe.each(NAMES)('with %s, as OpenSSL computes it', (name) => {
  const hash = HASH[name]
  const randoms = { client: randomBytes(32), server: randomBytes(32) }
  const start = () => {
    const shared = randomBytes(32)
    const secrets = new Secrets()
    let logged = ''
    secrets.log = (label, secret) => {
      logged = `${label} ${toHex(secret)}`
    }
    const digest = name.replace('-', '')
    return { shared, secrets, digest, logged: () => logged.replace('CLIENT_RANDOM ', '') }
  }
  const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

  test('§8.1 the master secret', () => {
    const { shared, secrets, digest, logged } = start()
    const expected = openssl(digest, shared, 'master secret', joined(randoms.client, randoms.server), 48)
    new PreMasterSecret(shared, secrets).master(hash, randoms)
    expect(logged()).toBe(expected)
    expect(toHex(shared)).toMatch(/^0+$/)
  })

  test('RFC 7627 §4, and what is derived from it', () => {
    const { shared, secrets, digest, logged } = start()
    const sessionHash = randomBytes(hash.length)
    const expected = openssl(digest, shared, 'extended master secret', sessionHash, 48)
    const master = new PreMasterSecret(shared, secrets).extendedMaster(hash, sessionHash)
    expect(logged()).toBe(expected)

    const bytes = hex(expected)
    const suite = SUITES.ECDSA_SHA256.find((candidate) => candidate.hash === name)!
    const { client, server } = master.keys(suite, randoms)
    const block = toHex(joined(client.key, server.key, client.iv, server.iv))
    const seed = joined(randoms.server, randoms.client)
    expect(block).toBe(openssl(digest, bytes, 'key expansion', seed, block.length / 2))

    const transcript = randomBytes(hash.length)
    for (const side of ['client', 'server'] as const)
      expect(toHex(master.verifyData(side, transcript))).toBe(
        openssl(digest, bytes, `${side} finished`, transcript, 12),
      )
    master.erase()
    expect(toHex(master.verifyData('client', transcript))).toBe(
      openssl(digest, new Uint8Array(48), 'client finished', transcript, 12),
    )
  })
})
