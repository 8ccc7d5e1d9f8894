// A certificate authority, a server certificate of each key type and one for clients, made with openssl.

import { execFile } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compressCertificates, type ServerConfig } from '../../src/index.ts'
import { signersOf } from '../support/signers-of.ts'

export type KeyType = 'ec' | 'rsa' | 'ed25519'

export interface Credentials {
  /** PEM file of the CA. */
  ca: string
  /** PEM files of a certificate that a client may have. */
  client: { certificate: string; key: string; pkcs12: string }
  servers: Record<
    KeyType,
    Pick<ServerConfig, 'certificateChain' | 'compressedCertificates' | 'algorithm' | 'sign'>
  >
}

/** Of the PKCS #12 file: some of its readers want one. */
export const PKCS12_PASSWORD = 'interop'

const NEW_KEY: Record<KeyType, string[]> = {
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['-newkey', 'rsa:2048'],
  ed25519: ['-newkey', 'ed25519'],
}
const ALGORITHM = { ec: 'ECDSA_SHA256', rsa: 'RSA_PSS_SHA256', ed25519: 'Ed25519' } as const

const CONFIG = `
[req]
distinguished_name = subject
prompt = no
[subject]
CN = interop
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost
[client]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
`

export async function makeCredentials(directory: string): Promise<Credentials> {
  const config = join(directory, 'openssl.cnf')
  await writeFile(config, CONFIG)
  const issue = async (name: string, extensions: string, type: KeyType, ...issuer: string[]) => {
    const [certificate, key] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)]
    const options = ['-config', config, '-extensions', extensions, '-subj', `/CN=${name}`, '-days', '30']
    const output = ['-nodes', '-keyout', key, '-out', certificate]
    await openssl('req', '-x509', ...NEW_KEY[type], ...options, ...issuer, ...output)
    return { certificate, key }
  }
  const ca = await issue('interop-ca', 'ca', 'ec')
  const issuer = ['-CA', ca.certificate, '-CAkey', ca.key]
  const server = async (type: KeyType) => {
    const { certificate, key } = await issue(`server-${type}`, 'server', type, ...issuer)
    const privateKey = createPrivateKey(await readFile(key))
    const certificateChain = [new Uint8Array(new X509Certificate(await readFile(certificate)).raw)]
    const config: Credentials['servers'][KeyType] = {
      certificateChain,
      compressedCertificates: await compressCertificates(certificateChain),
      algorithm: ALGORITHM[type],
      sign: signersOf(privateKey).sign,
    }
    return config
  }
  const client = await issue('client', 'client', 'ec', ...issuer)
  const pkcs12 = join(directory, 'client.p12')
  const from = ['-in', client.certificate, '-inkey', client.key, '-name', 'client']
  await openssl('pkcs12', '-export', ...from, '-out', pkcs12, '-passout', `pass:${PKCS12_PASSWORD}`)
  return {
    ca: ca.certificate,
    client: { ...client, pkcs12 },
    servers: { ec: await server('ec'), rsa: await server('rsa'), ed25519: await server('ed25519') },
  }
}

async function openssl(...args: string[]): Promise<void> {
  await promisify(execFile)('openssl', args)
}
