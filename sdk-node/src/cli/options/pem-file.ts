// Reads the PEM file that an option names.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { SvcError } from '@svc/sdk-core'

/** @throws SvcError `invalid_option` that names the option */
export async function readPem(option: string, path: string): Promise<Buffer> {
  const pem = await readFile(path).catch((cause) => {
    throw new SvcError('invalid_option', `${option} ${path} cannot be read`, { cause })
  })
  // a CA file without a certificate trusts no relay: the error would be that the relay is not trusted
  if (!isCertificate(pem)) throw new SvcError('invalid_option', `${option} ${path} is no PEM certificate`)
  return pem
}

/** @returns whether the first certificate of the file can be read */
function isCertificate(pem: Buffer): boolean {
  try {
    return pem.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
