// Runs the command `svc-relay ca`: prints the certificate of the development CA.

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type CaFormat, exportCa } from '../core/certificates/ca-export.ts'
import { IDENTITY_PATH_DEFAULT } from '../core/config/core-settings.ts'

/** The exit code is 1 when there is no CA. */
export async function printCa(format: CaFormat): Promise<void> {
  const file = path.join(process.env.IDENTITY_PATH || IDENTITY_PATH_DEFAULT, 'ca.pem')
  try {
    process.stdout.write(await exportCa(await readFile(file, 'utf8'), format))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const reason = isMissing
      ? 'does not exist: a relay on localhost creates it when it starts'
      : 'is not a certificate'
    console.error(`svc-relay: ${file} ${reason}`)
    process.exitCode = 1
  }
}
