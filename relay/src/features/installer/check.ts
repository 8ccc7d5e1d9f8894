// Checks what the installer would offer: the downloads of `svc`.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CHECKSUMS, DOWNLOADS } from '../../core/api/endpoints/download-names.ts'
import { type Found, off, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { BUILT_IN_DIRECTORIES, findDirectory } from './directory.ts'
import { Checksums } from './offer.ts'

export async function checkInstaller({ installDir }: Settings): Promise<Found[]> {
  const directory = installDir ?? (await findDirectory(BUILT_IN_DIRECTORIES))
  if (directory === undefined)
    return [off('There are no downloads of svc: SVC_INSTALL_DIR may name a directory that has them.')]
  const names = [...(await new Checksums().read(directory)).keys()]
  if (names.length === 0)
    return [
      warning(`${directory} has no bin/${CHECKSUMS} with downloads, so that the scripts install nothing.`),
    ]
  const files = DOWNLOADS.filter(({ name }) => names.includes(name)).map(({ file }) =>
    join('bin', `${file}.gz`),
  )
  const isThere = await Promise.all(files.map((file) => isFile(join(directory, file))))
  const missing = files.filter((_, index) => !isThere[index])
  return missing.length === 0
    ? [ok(`The relay installs svc from ${directory} for ${names.join(', ')}.`)]
    : [warning(`${directory} lacks ${missing.join(', ')}.`)]
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
