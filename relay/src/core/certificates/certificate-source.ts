// Decides whose certificate a start uses: the development CA's, the operator's, or one that ACME manages.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { isNobodysName } from '../config/setting-values.ts'
import { type CoreSettings, type FeatureFacts, isLocalhost, SettingsError } from '../config/settings.ts'
import type { Logger } from '../log/log.ts'
import { readIfPresent, readPrivateIfPresent } from '../storage/state-file.ts'
import {
  type Certificates,
  certificatesOf,
  isOfDevelopment,
  loadDevelopmentCertificates,
  readCertificates,
} from './certificate-files.ts'
import { createCa, createLeaf } from './development-ca.ts'
import {
  ACCOUNT_KEY_FILE,
  CHAIN_FILE,
  finishManagedPair,
  KEY_FILE,
  keepOperatorsPair,
  REGISTRATION_FILE,
  readManagedPair,
} from './managed-files.ts'

export type CertificateSource =
  | { kind: 'development' }
  /** The operator's own files. */
  | { kind: 'manual'; certificates: Certificates }
  /**
   * ACME; without certificates when there are none yet, or when the files are unusable for the reason `problem`.
   */
  | {
      kind: 'managed'
      certificates: Certificates | undefined
      problem: string | undefined
      /** URL of the ACME directory of the certificates; undefined: they may be the operator's, and are replaced. */
      acmeDirectory?: string | undefined
      /** Whether there is no account yet, so that any files are the operator's. */
      isFirst: boolean
    }

const REMEDY = 'ACME_AGREE=true lets the relay get a certificate by ACME'

/**
 * Finds the source without writing.
 * @throws SettingsError when there is no usable certificate and none may be ordered, with both remedies
 */
export async function findCertificateSource(
  settings: CoreSettings & FeatureFacts,
): Promise<CertificateSource> {
  const { rootHost, identityPath, isAcmeAgreed } = settings
  if (isNobodysName(rootHost) && !isLocalhost(rootHost) && (await hasNoOther(settings)))
    return { kind: 'development' }
  if (isLocalhost(rootHost)) return { kind: 'development' }
  if (!(await hasAccount(identityPath))) return await manualOrFirst(settings)
  if (!isAcmeAgreed)
    throw new SettingsError(
      'ACME_AGREE',
      `must be true, since ${identityPath} has an ACME account: move ${ACCOUNT_KEY_FILE} and ${REGISTRATION_FILE} away to use certificate files of your own`,
    )
  const { chain, key, acmeDirectory } = await readManagedPair(identityPath)
  if (chain === undefined || key === undefined)
    return { kind: 'managed', certificates: undefined, problem: undefined, isFirst: false }
  try {
    const certificates = certificatesOf(rootHost, chain, key)
    return { kind: 'managed', certificates, problem: undefined, acmeDirectory, isFirst: false }
  } catch (error) {
    return { kind: 'managed', certificates: undefined, problem: problemOf(error).message, isFirst: false }
  }
}

/** Below `.local` the operator may have certificates of another CA, or an authority of the network that speaks ACME. */
async function hasNoOther({ identityPath, isAcmeAgreed }: CoreSettings & FeatureFacts): Promise<boolean> {
  if (isAcmeAgreed || (await hasAccount(identityPath))) return false
  const chain = await readIfPresent(join(identityPath, CHAIN_FILE))
  return chain === undefined || isOfDevelopment(chain)
}

/** The certificates of a start. */
export interface LoadedCertificates {
  /** Placeholders without a chain while there are none yet. */
  certificates: Certificates
  /** Whether ACME manages them. */
  isManaged: boolean
  /** URL of the ACME directory that they come from, where that is known. */
  acmeDirectory?: string | undefined
}

/**
 * Loads the certificates of a start. On localhost it creates missing, expiring and unsuitable ones.
 * @throws SettingsError as {@link findCertificateSource} does; on localhost, when it would overwrite a certificate that the
 * relay did not issue
 */
export async function loadCertificates(
  settings: CoreSettings & FeatureFacts,
  log: Logger,
): Promise<LoadedCertificates> {
  const source = await findCertificateSource(settings)
  if (source.kind === 'development')
    return { certificates: await loadDevelopmentCertificates(settings, log), isManaged: false }
  if (source.kind === 'manual') return { certificates: source.certificates, isManaged: false }
  if (!source.isFirst) await finishManagedPair(settings.identityPath)
  if (source.isFirst || source.acmeDirectory === undefined) await keepOperatorsPair(settings.identityPath)
  if (source.problem !== undefined)
    log.warn({ reason: source.problem }, 'the certificate on disk cannot be used: the relay gets another one')
  const { certificates = placeholder(settings.rootHost), acmeDirectory } = source
  return { certificates, isManaged: true, acmeDirectory }
}

/** The operator's files take precedence only if ACME was never used, since ACME may have written them. */
async function manualOrFirst(settings: CoreSettings & FeatureFacts): Promise<CertificateSource> {
  const { identityPath, isAcmeAgreed } = settings
  // A file that cannot be read, or that others can read, is no reason to order another certificate.
  const [chain, key] = await Promise.all([
    readIfPresent(join(identityPath, CHAIN_FILE)),
    readPrivateIfPresent(join(identityPath, KEY_FILE)),
  ])
  try {
    return { kind: 'manual', certificates: await readCertificates(settings) }
  } catch (error) {
    const { message } = problemOf(error)
    if (!isAcmeAgreed)
      throw new SettingsError((error as SettingsError).setting, `${reasonOf(error)}; ${REMEDY}`)
    const problem = chain === undefined && key === undefined ? undefined : message
    return { kind: 'managed', certificates: undefined, problem, isFirst: true }
  }
}

async function hasAccount(directory: string): Promise<boolean> {
  const files = [ACCOUNT_KEY_FILE, REGISTRATION_FILE].map((name) => access(join(directory, name)))
  return (await Promise.allSettled(files)).some(({ status }) => status === 'fulfilled')
}

/** Placeholder for a certificate that the relay does not have yet. The listener never presents it. */
function placeholder(host: string): Certificates {
  const { chain, key } = createLeaf(createCa(host), host, [host])
  return { ...certificatesOf(host, chain, key), chain: [] }
}

/** @throws the error itself if it is not about the content of a file */
function problemOf(error: unknown): SettingsError {
  if (error instanceof SettingsError) return error
  throw error
}

/** The message without the setting. */
function reasonOf(error: unknown): string {
  const { setting, message } = problemOf(error)
  return message.slice(`${setting}: `.length)
}
