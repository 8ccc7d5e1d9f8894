// Loads the shared certificate from the state directory. On localhost the relay creates it with a development CA.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { SignAlgorithm } from '@svc/protocol'
import { type CoreSettings, SettingsError } from '../config/settings.ts'
import type { Logger } from '../log/log.ts'
import { readIfPresent, readPrivateIfPresent, writePrivate, writePublic } from '../storage/state-file.ts'
import { createCa, createLeaf } from './development-ca.ts'
import { type CertificateAuthority, caName, LEAF_NAME } from './development-names.ts'

export interface Certificates {
  /** PEM, leaf first. */
  chainPem: string
  /** The same chain in DER, which the relay compares with the presented chain; empty while there is none. */
  chain: Buffer[]
  key: KeyObject
  algorithm: SignAlgorithm
  /** Whether they also cover the hostnames of sites, which may then present them. */
  hasWildcard: boolean
  /** The development CA that issued them; undefined for an operator's certificates. */
  authority?: CertificateAuthority
}

const RENEW_BEFORE_MS = 30 * 86_400_000
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Loads the certificates of a relay on localhost, and creates missing, expiring and unsuitable ones.
 * @throws SettingsError when it would overwrite a certificate that the relay did not issue
 */
export async function loadDevelopmentCertificates(
  settings: CoreSettings,
  log: Logger,
): Promise<Certificates> {
  const found = await readDevelopmentCertificates(settings)
  const authority = found.authority ?? (await newAuthority(settings, log))
  const files = filesIn(settings.identityPath)
  if (found.current !== undefined) {
    const { chainPem } = found.current
    if (chainPem !== (await readIfPresent(files.chain))) await writePublic(files.chain, chainPem)
    return { ...found.current, authority }
  }
  const leaf = createLeaf(authority, settings.rootHost)
  await writePrivate(files.key, leaf.key)
  await writePublic(files.chain, leaf.chain)
  log.info({ host: settings.rootHost }, 'development certificate issued')
  return { ...certificatesOf(settings.rootHost, leaf.chain, leaf.key), authority }
}

/** The certificates that a relay on localhost finds at its start. It creates missing ones. */
export interface DevelopmentCertificates {
  authority: CertificateAuthority | undefined
  /** The certificate that this CA issued for the host, unless it expires soon. */
  current: Certificates | undefined
}

/**
 * Reads the certificates of a relay on localhost without writing.
 * @throws SettingsError as {@link loadDevelopmentCertificates} does
 */
export async function readDevelopmentCertificates({
  identityPath,
  rootHost,
}: CoreSettings): Promise<DevelopmentCertificates> {
  const files = filesIn(identityPath)
  const [chain, key] = await readPair(files.chain, files.key)
  const authority = await readAuthority(identityPath, rootHost)
  if (chain !== undefined && key !== undefined && isCurrent(chain, rootHost, authority))
    return { authority, current: certificatesOf(rootHost, withAuthority(chain, authority!), key) }
  if (chain !== undefined && !isOfDevelopment(chain))
    throw new SettingsError(
      files.chain,
      'was not issued by ca.pem, or expires soon: move it and privatekey.pem away',
    )
  return { authority, current: undefined }
}

/** @throws SettingsError when the two files are missing, not a pair, expired, or not for this host and the names below it */
export async function readCertificates({ identityPath, rootHost }: CoreSettings): Promise<Certificates> {
  const files = filesIn(identityPath)
  const [chain, key] = await readPair(files.chain, files.key)
  if (chain === undefined || key === undefined)
    throw new SettingsError(identityPath, `needs fullchain.pem and privatekey.pem for ${rootHost}`)
  const certificates = certificatesOf(rootHost, chain, key)
  if (!certificates.hasWildcard)
    throw new SettingsError('fullchain.pem', `must cover ${rootHost} and *.${rootHost}`)
  return certificates
}

function filesIn(directory: string): { chain: string; key: string } {
  return { chain: join(directory, 'fullchain.pem'), key: join(directory, 'privatekey.pem') }
}

function authorityFilesIn(directory: string): { certificate: string; key: string } {
  return { certificate: join(directory, 'ca.pem'), key: join(directory, 'ca-key.pem') }
}

async function readAuthority(directory: string, host: string): Promise<CertificateAuthority | undefined> {
  const files = authorityFilesIn(directory)
  const [certificate, key] = await readPair(files.certificate, files.key)
  if (certificate === undefined || key === undefined) return undefined
  return authorityOf(host, certificate, key)
}

async function newAuthority(
  { identityPath, rootHost }: CoreSettings,
  log: Logger,
): Promise<CertificateAuthority> {
  const files = authorityFilesIn(identityPath)
  const authority = createCa(rootHost)
  await writePrivate(files.key, authority.key)
  await writePublic(files.certificate, authority.certificate)
  log.info({ path: files.certificate }, 'development CA created; trust it once')
  return authority
}

function readPair(certificate: string, key: string): Promise<[string | undefined, string | undefined]> {
  return Promise.all([readIfPresent(certificate), readPrivateIfPresent(key)])
}

/**
 * @returns undefined when the CA is for another host
 * @throws SettingsError when certificate and key cannot be used
 */
function authorityOf(host: string, certificatePem: string, keyPem: string): CertificateAuthority | undefined {
  const certificate = pemOf('ca.pem', () => new X509Certificate(certificatePem))
  const key = pemOf('ca-key.pem', () => createPrivateKey(keyPem))
  if (certificate.subject !== `CN=${caName(host)}`) return undefined
  if (!certificate.checkPrivateKey(key)) throw new SettingsError('ca-key.pem', 'is not the key of ca.pem')
  if (!isP256(key)) throw new SettingsError('ca-key.pem', 'must be ECDSA P-256')
  return { certificate: certificatePem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

function isCurrent(chainPem: string, host: string, authority: CertificateAuthority | undefined): boolean {
  if (authority === undefined) return false
  const leaf = pemOf('fullchain.pem', () => new X509Certificate(chainPem))
  return (
    leaf.checkHost(host) !== undefined &&
    leaf.checkIssued(new X509Certificate(authority.certificate)) &&
    leaf.validToDate.getTime() - Date.now() > RENEW_BEFORE_MS
  )
}

/** Earlier releases wrote only the leaf. */
function withAuthority(chainPem: string, { certificate }: CertificateAuthority): string {
  return chainPem.match(PEM_BLOCK)?.length === 1 ? chainPem + certificate : chainPem
}

/** Returns whether a relay with a CA of its own made the certificate. */
export function isOfDevelopment(chainPem: string): boolean {
  return subjectOf(chainPem) === `CN=${LEAF_NAME}`
}

function subjectOf(chainPem: string): string {
  return pemOf('fullchain.pem', () => new X509Certificate(chainPem)).subject
}

/** @throws SettingsError when chain and key are not a pair, expired, or not for `host` */
export function certificatesOf(host: string, chainPem: string, keyPem: string): Certificates {
  const chain = pemOf('fullchain.pem', () =>
    (chainPem.match(PEM_BLOCK) ?? []).map((block) => new X509Certificate(block)),
  )
  const key = pemOf('privatekey.pem', () => createPrivateKey(keyPem))
  const leaf = chain[0]
  if (leaf === undefined) throw new SettingsError('fullchain.pem', 'contains no certificate')
  if (!leaf.checkPrivateKey(key)) throw new SettingsError('privatekey.pem', 'is not the key of fullchain.pem')
  if (leaf.validToDate.getTime() <= Date.now())
    throw new SettingsError('fullchain.pem', `expired on ${leaf.validToDate.toISOString()}`)
  if (leaf.checkHost(host) === undefined)
    throw new SettingsError('fullchain.pem', `must cover ${host} and *.${host}`)
  const hasWildcard = leaf.checkHost(`x.${host}`) !== undefined
  return { chainPem, chain: chain.map(({ raw }) => raw), key, algorithm: algorithmOf(key), hasWildcard }
}

/** Names the file in the error, since OpenSSL's message does not. */
function pemOf<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new SettingsError(file, 'is not PEM')
  }
}

function algorithmOf(key: KeyObject): SignAlgorithm {
  if (key.asymmetricKeyType === 'ed25519') return 'Ed25519'
  if (key.asymmetricKeyType === 'rsa') return 'RSA_PSS_SHA256'
  if (isP256(key)) return 'ECDSA_SHA256'
  throw new SettingsError('privatekey.pem', 'must be ECDSA P-256, RSA or Ed25519')
}

function isP256({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
}
