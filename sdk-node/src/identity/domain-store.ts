// Stores the ACME account and the certificates of custom domains in files beside the identity file, each with its key. Only its owner
// may read them.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type DomainEntry, type DomainStore, type SiteKey, SvcError } from '@svc/sdk-core'
import { withLockFile } from './lock-file.ts'
import { readOrCreateKey, readPrivateFile, replacePrivateFile } from './private-file.ts'
import { siteKey } from './site-keys.ts'

/** The content of a file, as JSON. */
interface Content {
  /** PEM (PKCS #8). */
  private_key: string
  /** What the SDK stores with the key. */
  text?: string
}

const CODE = 'certificate_unavailable'
/** The end of the name of a domain's file. A domain has a dot, which `acme-account` has not. */
const ENTRY = /^([^@.]+\.[^@]+)@[^@]+\.json$/

/** Stores entries beside an identity file: `identity-shop.example.org@acme.example.json` beside `identity.json`. */
export function domainStoreBeside(identityPath: string): DomainStore {
  return {
    load: (id) =>
      readOrCreateKey(pathOf(identityPath, id), read, () => {
        const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
        return encode({ private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() })
      }),
    lock: (id, task, signal) => {
      const path = `${pathOf(identityPath, id)}.lock`
      const failed = (cause: unknown): SvcError => new SvcError(CODE, `${path} cannot be made`, { cause })
      return withLockFile(path, task, { signal, failed })
    },
  }
}

/** Adds to a key that was brought what OpenSSL needs of it. */
export function nativeKey(pkcs8: Uint8Array, key: SiteKey): SiteKey {
  const privateKey = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  return { ...siteKey(privateKey), algorithm: key.algorithm }
}

/** A KeptDomain is a custom domain that has a certificate on this machine. */
export interface KeptDomain {
  domain: string
  publicKey: KeyObject
}

/**
 * Resolves with the domains whose certificates are beside an identity file.
 * @throws SvcError `certificate_unavailable`, whose message says what is wrong with a file
 */
export async function readKeptDomains(identityPath: string): Promise<KeptDomain[]> {
  const folder = dirname(identityPath)
  const stem = `${basename(identityPath, '.json')}-`
  const kept: KeptDomain[] = []
  for (const file of (await readdir(folder)).sort()) {
    const [, domain] = (file.startsWith(stem) && ENTRY.exec(file.slice(stem.length))) || []
    if (domain === undefined) continue
    const { private_key: key, text = '' } = parse(file, await readPrivateFile(join(folder, file), CODE))
    if (text.includes('"chain":["')) kept.push({ domain, publicKey: createPublicKey(key) })
  }
  return kept
}

/** Windows' file names cannot contain the colon of a port. */
function pathOf(identityPath: string, id: string): string {
  return join(dirname(identityPath), `${basename(identityPath, '.json')}-${id.replaceAll(':', '_')}.json`)
}

async function read(path: string): Promise<DomainEntry> {
  const content = parse(path, await readPrivateFile(path, CODE))
  return {
    key: siteKey(createPrivateKey(content.private_key)),
    text: content.text,
    where: path,
    save: (text) => replacePrivateFile(path, encode({ ...content, text })),
  }
}

function parse(path: string, json: string): Content {
  try {
    const { private_key: key, text } = Object(JSON.parse(json))
    createPrivateKey(key)
    return { private_key: key, ...(typeof text === 'string' && { text }) }
  } catch {
    // The parser's message would quote the file.
    throw new SvcError(CODE, `${path} has no private key: remove it for a new one`)
  }
}

function encode(content: Content): string {
  return `${JSON.stringify(content)}\n`
}
