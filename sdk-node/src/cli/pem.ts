// A PEM file that an option names.

import { readFile } from 'node:fs/promises'
import { SvcError } from '@svc/sdk-browser/platform'

/** @throws SvcError `invalid_option` that names the option */
export async function readPem(option: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new SvcError('invalid_option', `${option} ${path} cannot be read`, { cause })
  }
}
