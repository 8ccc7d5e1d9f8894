// The files of a certificate that the relay gets by ACME. Chain and key are replaced together, even if the machine
// stops in between: one file has both until each is in its own.

import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfPresent, readPrivateIfPresent, StateFileError, writePrivate } from '../storage/state-file.ts'

/** Its presence, or that of the registration, means that ACME manages the certificate. */
export const ACCOUNT_KEY_FILE = 'acme-account.key'
export const REGISTRATION_FILE = 'acme-registration.json'
export const CHAIN_FILE = 'fullchain.pem'
export const KEY_FILE = 'privatekey.pem'
/** Files that change with the certificate, the chain last. */
export const CERTIFICATE_FILES: readonly string[] = [KEY_FILE, 'acme-directory.json', CHAIN_FILE]
const BOTH_FILE = 'acme-certificate.json'
const DIRECTORY_FILE = 'acme-directory.json'

/** PEM texts. */
export interface ManagedPair {
  /** Leaf first. */
  chain: string
  key: string
  /** URL of its ACME directory; undefined when unknown: it may be the operator's. */
  acmeDirectory?: string | undefined
}

/**
 * Writes chain and key. If this rejects, the files may have the old pair or the new one; {@link readManagedPair}
 * returns the right one.
 * @throws StateFileError
 */
export async function writeManagedPair(directory: string, pair: ManagedPair): Promise<void> {
  await writePrivate(join(directory, BOTH_FILE), `${JSON.stringify(pair)}\n`)
  await writePrivate(join(directory, KEY_FILE), pair.key)
  await writePrivate(join(directory, CHAIN_FILE), pair.chain)
  const { acmeDirectory } = pair
  const origin = { acmeDirectory, chainSha256: hash('sha256', pair.chain) }
  await writePrivate(join(directory, DIRECTORY_FILE), `${JSON.stringify(origin)}\n`)
  await remove(join(directory, BOTH_FILE))
}

/**
 * Reads chain and key as last written completely.
 * @throws SettingsError for a file that cannot be read, or a key that others can read
 */
export async function readManagedPair(directory: string): Promise<Partial<ManagedPair>> {
  const both = parse(await readPrivateIfPresent(join(directory, BOTH_FILE)))
  if (both !== undefined) return both
  const [chain, key, origin] = await Promise.all([
    readIfPresent(join(directory, CHAIN_FILE)),
    readPrivateIfPresent(join(directory, KEY_FILE)),
    readIfPresent(join(directory, DIRECTORY_FILE)),
  ])
  const { acmeDirectory, chainSha256 } = objectOf(origin)
  // Earlier releases wrote no hash.
  const isOfRelay = chainSha256 === undefined || chainSha256 === hash('sha256', chain ?? '')
  return {
    ...(chain !== undefined && { chain }),
    ...(key !== undefined && { key }),
    ...(typeof acmeDirectory === 'string' && isOfRelay && { acmeDirectory }),
  }
}

/** Finishes a write that was interrupted. @throws StateFileError */
export async function finishManagedPair(directory: string): Promise<void> {
  const both = parse(await readPrivateIfPresent(join(directory, BOTH_FILE)))
  if (both !== undefined) await writeManagedPair(directory, both)
}

/**
 * Copies files that may be the operator's, before an ACME certificate overwrites them.
 * @throws StateFileError
 */
export async function keepOperatorsPair(directory: string): Promise<void> {
  for (const name of [CHAIN_FILE, KEY_FILE]) {
    const content = await readIfPresent(join(directory, name))
    if (content !== undefined) await writePrivate(join(directory, `operator-${name}`), content)
  }
}

async function remove(path: string): Promise<void> {
  try {
    await rm(path, { force: true })
  } catch (error) {
    throw new StateFileError(path, error)
  }
}

function parse(text: string | undefined): ManagedPair | undefined {
  const { chain, key, acmeDirectory } = objectOf(text)
  if (typeof chain !== 'string' || typeof key !== 'string') return undefined
  return { chain, key, ...(typeof acmeDirectory === 'string' && { acmeDirectory }) }
}

/** @returns an empty object for a file that is missing or damaged */
function objectOf(text: string | undefined): Record<string, unknown> {
  try {
    return Object(JSON.parse(text ?? ''))
  } catch {
    return {}
  }
}
