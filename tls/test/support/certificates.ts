// Self-signed certificates of each key type, made with openssl once per test file, and the signers that hold their keys.

import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { ServerConfig } from '../../src/index.ts'
import { signersOf } from './signers-of.ts'

type KeyType = 'ec' | 'rsa' | 'ed25519'

interface Identity {
  /** PEM file of the certificate, which is its own CA. */
  file: string
  pem: string
  config: Pick<ServerConfig, 'certificateChain' | 'algorithm' | 'sign'>
  /** The same, and TLS 1.2 with it. */
  tls12: Identity['config'] & Required<Pick<ServerConfig, 'signTls12'>>
}

const NEW_KEY: Record<KeyType, string[]> = {
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['-newkey', 'rsa:2048'],
  ed25519: ['-newkey', 'ed25519'],
}

const ALGORITHM = { ec: 'ECDSA_SHA256', rsa: 'RSA_PSS_SHA256', ed25519: 'Ed25519' } as const

export function makeIdentity(type: KeyType): Identity {
  const directory = mkdtempSync(join(tmpdir(), 'tls-test-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  const [file, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const output = ['-nodes', '-days', '30', '-keyout', keyFile, '-out', file]
  execFileSync('openssl', ['req', '-x509', ...NEW_KEY[type], ...subject, ...output], { stdio: 'ignore' })
  const pem = readFileSync(file, 'utf8')
  const key = createPrivateKey(readFileSync(keyFile))
  const { sign, signTls12 } = signersOf(key)
  const config: Identity['config'] = {
    certificateChain: [new Uint8Array(new X509Certificate(pem).raw)],
    algorithm: ALGORITHM[type],
    sign,
  }
  return { file, pem, config, tls12: { ...config, signTls12 } }
}
