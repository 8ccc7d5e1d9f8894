// The certificates by which the relay trusts an ACME authority's TLS: those of the file that ACME_CA names.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { withoutByteOrderMark } from '@svc/protocol'
import { SettingsError } from '../../core/config/settings.ts'

/**
 * @returns PEM; undefined without a file, when Node's roots apply
 * @throws SettingsError when the file cannot be used
 */
export async function readRoots(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  try {
    const pem = withoutByteOrderMark(await readFile(file, 'utf8'))
    new X509Certificate(pem)
    return pem
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SettingsError('ACME_CA', code === 'ENOENT' ? `${file} does not exist` : `${file} is not PEM`)
  }
}
