// Stores the key and chain of each site's own certificate in a file beside the identity file. Only its owner may
// read it.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { type SiteKey, type SiteKeyStore, type SiteName, type StoredSiteKey, SvcError } from '@svc/sdk-core'
import { readOrCreateKey, readPrivateFile, replacePrivateFile } from './private-file.ts'

/** A NodeSiteKey is a site's key in Node. */
export interface NodeSiteKey extends SiteKey {
  readonly privateKey: KeyObject
}

const CURVE = 'prime256v1'
const CERTIFICATE = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g
const BASE64_LINE = /.{1,64}/g

/**
 * Stores keys beside an identity file: `identity-demo@relay.example.pem` beside `identity.json`. A file has a private key
 * (PKCS #8) and then a chain, leaf first, both as PEM.
 */
export function siteKeysBeside(identityPath: string): SiteKeyStore<NodeSiteKey> {
  return {
    load: (site) => readOrCreateKey(siteKeyPath(identityPath, site), read, () => encodeKey(newKey())),
  }
}

/** Makes a key for each site that lives as long as the process, for an identity without a file. */
export function siteKeysInMemory(): SiteKeyStore<NodeSiteKey> {
  return { load: async () => ({ key: siteKey(newKey()), chain: undefined, save: async () => {} }) }
}

/** The public content of a site's file. */
export interface KeptCertificate {
  publicKey: KeyObject
  /** Leaf first; empty when the site has no certificate yet. */
  chain: readonly X509Certificate[]
}

/**
 * Reads a site's file. Undefined when there is none.
 * @throws SvcError `certificate_unavailable`, whose message says what is wrong with the file
 */
export async function readKeptCertificate(
  identityPath: string,
  site: SiteName,
): Promise<KeptCertificate | undefined> {
  const path = siteKeyPath(identityPath, site)
  try {
    const { key, chain = [] } = await read(path)
    return {
      publicKey: createPublicKey(key.privateKey),
      chain: chain.map((der) => new X509Certificate(der)),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (cause instanceof SvcError) throw cause
    throw new SvcError('certificate_unavailable', `${path} cannot be read`, { cause })
  }
}

/** Returns the path of a site's file. Windows' file names cannot contain the colon of a port. */
function siteKeyPath(identityPath: string, { name, relay }: SiteName): string {
  const stem = basename(identityPath, '.json')
  return join(dirname(identityPath), `${stem}-${name}@${relay.replaceAll(':', '_')}.pem`)
}

async function read(path: string): Promise<StoredSiteKey<NodeSiteKey>> {
  const text = await readPrivateFile(path, 'certificate_unavailable')
  const privateKey = parseKey(path, text)
  const chain = Array.from(
    text.matchAll(CERTIFICATE),
    ([, body]) => new Uint8Array(Buffer.from(body!, 'base64')),
  )
  return {
    key: siteKey(privateKey),
    chain: chain.length > 0 ? chain : undefined,
    save: (next) => replacePrivateFile(path, encodeKey(privateKey) + next.map(encodeCertificate).join('')),
  }
}

function parseKey(path: string, text: string): KeyObject {
  try {
    const key = createPrivateKey(text)
    if (key.asymmetricKeyDetails?.namedCurve === CURVE) return key
  } catch {
    // The parser's message is of no use.
  }
  throw new SvcError(
    'certificate_unavailable',
    `${path} has no private key of ECDSA P-256: remove it for a new one`,
  )
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: CURVE }).privateKey
}

/** Returns the key of a site for one of ECDSA P-256. */
export function siteKey(privateKey: KeyObject): NodeSiteKey {
  return {
    algorithm: 'ECDSA_SHA256',
    privateKey,
    publicKey: new Uint8Array(createPublicKey(privateKey).export({ type: 'spki', format: 'der' })),
    sign: async (content) => new Uint8Array(sign('sha256', content, privateKey)),
  }
}

function encodeKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function encodeCertificate(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').match(BASE64_LINE) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
