// Checks the files that the root host serves beside the API: its pages, and the installer.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { INSTALL_SLUGS } from '@svc/protocol'
import { arePagesBuilt } from '../api/handlers/built-in-pages.ts'
import type { Settings } from '../config/settings.ts'
import { type Found, off, ok, warning } from './finding.ts'

const SCRIPTS = ['install.sh', 'install.ps1'] as const

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
  if (installDir === undefined) return [off('SVC_INSTALL_DIR is not set.')]
  const names = [...SCRIPTS, ...INSTALL_SLUGS.map((slug) => join('bin', slug))]
  const isThere = await Promise.all(names.map((name) => isFile(join(installDir, name))))
  const missing = names.filter((_, index) => !isThere[index])
  return missing.length === 0
    ? [ok(`The installer has its ${names.length} files in ${installDir}.`)]
    : [warning(`SVC_INSTALL_DIR: ${installDir} lacks ${missing.join(', ')}.`)]
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
