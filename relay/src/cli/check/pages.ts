// Checks the pages that the root host serves beside the API.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { arePagesBuilt } from '../../core/api/handlers/built-in-pages.ts'
import { type Found, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'

export async function checkPages({ siteDir }: Settings): Promise<Found[]> {
  if (siteDir === undefined)
    return (await arePagesBuilt())
      ? [ok('The root host has the built-in pages.')]
      : [warning('The built-in pages are not built, so that the root host has only its API.')]
  return (await isFile(join(siteDir, 'index.html')))
    ? [ok(`The root host has the pages in ${siteDir}.`)]
    : [warning(`SVC_SITE_DIR: ${siteDir} has no index.html that the relay can read.`)]
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
