// Reads the PEM file that an option names.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { withoutByteOrderMark } from '@svc/protocol'
import { SvcError } from '@svc/sdk-core'

/** @throws SvcError `invalid_option` that names the option */
export async function readPem(option: string, path: string): Promise<string> {
  const pem = await readText(option, path)
  // With a CA file without a certificate, the error would be that the relay is not trusted.
  if (!isCertificate(pem)) throw new SvcError('invalid_option', `${option} ${path} is no PEM certificate`)
  return pem
}

/** Reads a PEM file of revocation lists. @throws SvcError `invalid_option` that names the option */
export async function readRevocationLists(option: string, path: string): Promise<string> {
  const pem = await readText(option, path)
  if (pem.includes('-----BEGIN X509 CRL-----')) return pem
  throw new SvcError('invalid_option', `${option} ${path} has no revocation list in PEM`)
}

async function readText(option: string, path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw new SvcError('invalid_option', `${option} ${path} cannot be read`, { cause })
  })
  return withoutByteOrderMark(text)
}

/** @returns whether the first certificate of the file can be read */
function isCertificate(pem: string): boolean {
  try {
    return pem.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
