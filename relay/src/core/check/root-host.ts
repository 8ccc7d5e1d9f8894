// Checks the files that the root host serves beside the API: its pages, and the installer.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_DIRECTORIES, findDirectory } from '../../features/installer/directory.ts'
import { CHECKSUMS, DOWNLOADS } from '../../features/installer/download-names.ts'
import { Checksums } from '../../features/installer/offer.ts'
import { arePagesBuilt } from '../api/handlers/built-in-pages.ts'
import type { Settings } from '../config/settings.ts'
import { type Found, off, ok, warning } from './finding.ts'

export async function checkPages({ siteDir }: Settings): Promise<Found[]> {
  if (siteDir === undefined)
    return (await arePagesBuilt())
      ? [ok('The root host has the built-in pages.')]
      : [warning('The built-in pages are not built, so that the root host has only its API.')]
  return (await isFile(join(siteDir, 'index.html')))
    ? [ok(`The root host has the pages in ${siteDir}.`)]
    : [warning(`SVC_SITE_DIR: ${siteDir} has no index.html that the relay can read.`)]
}

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
