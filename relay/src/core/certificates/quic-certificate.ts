// Provides the QUIC endpoint's certificate for the root host. It has its own key where possible, since the process that
// holds the key parses packets of strangers.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { type CoreSettings, SettingsError } from '../config/settings.ts'
import { readIfPresent, readPrivateIfPresent } from '../storage/state-file.ts'
import type { CertificateRotation } from './certificate-rotation.ts'
import { createLeaf } from './development-ca.ts'

/** PEM texts. */
export interface QuicCertificatePair {
  /** Leaf first. */
  chainPem: string
  keyPem: string
  /** Whether its key is that of the shared certificate, since there is no other. */
  isShared: boolean
}

type Pair = Pick<QuicCertificatePair, 'chainPem' | 'keyPem'>

/** Files that an operator may add to the state directory. */
export const QUIC_CERTIFICATE_FILES = ['quic-fullchain.pem', 'quic-privatekey.pem'] as const

export class QuicCertificates {
  readonly #settings: CoreSettings
  readonly #rotation: CertificateRotation
  readonly #onReplace = new Set<() => void>()
  /** The operator's certificate, as last read from the two files. */
  #own: Pair | undefined

  constructor(settings: CoreSettings, rotation: CertificateRotation) {
    this.#settings = settings
    this.#rotation = rotation
    rotation.onReplace(() => {
      if (this.#own === undefined) this.#tell()
    })
  }

  /**
   * The certificate of the QUIC listener: the operator's, a new one of the development CA, or the shared certificate.
   * @throws SettingsError when the operator's certificate is invalid
   */
  async current(): Promise<QuicCertificatePair> {
    this.#own = await readQuicCertificate(this.#settings)
    const { authority, chainPem, key } = this.#rotation.current
    if (this.#own !== undefined)
      return { ...this.#own, isShared: createPrivateKey(this.#own.keyPem).equals(key) }
    if (authority === undefined)
      return { chainPem, keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(), isShared: true }
    const { rootHost } = this.#settings
    const leaf = createLeaf(authority, rootHost, [rootHost])
    return { chainPem: leaf.chain, keyPem: leaf.key, isShared: false }
  }

  /** Adds a callback, which is called when the QUIC listener needs another certificate. */
  onReplace(listener: () => void): void {
    this.#onReplace.add(listener)
  }

  /**
   * Reads the two files again.
   * @returns whether they changed
   * @throws SettingsError when they are invalid
   */
  async reload(): Promise<boolean> {
    if (this.#onReplace.size === 0) return false
    const own = await readQuicCertificate(this.#settings)
    if (own?.chainPem === this.#own?.chainPem && own?.keyPem === this.#own?.keyPem) return false
    this.#own = own
    this.#tell()
    return true
  }

  #tell(): void {
    for (const listener of this.#onReplace) listener()
  }
}

/**
 * Reads the certificate that an operator may add for the QUIC endpoint; undefined without its files.
 * @throws SettingsError when it is invalid
 */
export async function readQuicCertificate({
  identityPath,
  rootHost,
}: CoreSettings): Promise<Pair | undefined> {
  const [chainFile, keyFile] = QUIC_CERTIFICATE_FILES
  const [chainPem, keyPem] = await Promise.all([
    readIfPresent(join(identityPath, chainFile)),
    readPrivateIfPresent(join(identityPath, keyFile)),
  ])
  if (chainPem === undefined && keyPem === undefined) return undefined
  if (chainPem === undefined) throw new SettingsError(chainFile, `is missing, while ${keyFile} exists`)
  if (keyPem === undefined) throw new SettingsError(keyFile, `is missing, while ${chainFile} exists`)
  requirePair(rootHost, { chainPem, keyPem })
  return { chainPem, keyPem }
}

/** @throws SettingsError when certificate and key are not a pair, expired, or not for `host` */
function requirePair(host: string, { chainPem, keyPem }: Pair): void {
  const [chainFile, keyFile] = QUIC_CERTIFICATE_FILES
  const leaf = pemOf(chainFile, () => new X509Certificate(chainPem))
  const key = pemOf(keyFile, () => createPrivateKey(keyPem))
  if (!leaf.checkPrivateKey(key)) throw new SettingsError(keyFile, `is not the key of ${chainFile}`)
  if (leaf.validToDate.getTime() <= Date.now())
    throw new SettingsError(chainFile, `expired on ${leaf.validToDate.toISOString()}`)
  if (leaf.checkHost(host) === undefined) throw new SettingsError(chainFile, `must cover ${host}`)
}

function pemOf<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new SettingsError(file, 'is not PEM')
  }
}
