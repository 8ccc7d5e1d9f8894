// Builds the relay's pages, the examples below them and the SDK for pages of others into the relay's package: what `svc-relay`
// serves at its root host.
import path from 'node:path'
import { root } from '../programs/command.ts'
import { compress } from './compress.ts'
import { buildFrameworks } from './framework-apps.ts'
import { buildDirectory, buildProject } from './output-directory.ts'
import { buildRelaySdk } from './relay-sdk.ts'
import { digestOf } from './source-digest.ts'

/** The directory in which the relay looks (relay/src/core/api/handlers/built-in-pages.ts). */
const PAGES_DIR: string = path.join(root, 'relay/pages')
/** The sources of the pages. */
const SOURCES = [
  'relay/web/{*.html,package.json,*.ts,public/**,src/**}',
  'examples/**',
  '{protocol,yamux,tls,payment,sdk-core,sdk-browser}/{package.json,src/**}',
  'tools/sui-node/*.ts',
  'tools/bundler/{font-preload,script-as-text,relay-pages,relay-sdk,framework-apps,compress,output-directory}.ts',
  'relay/src/core/version.ts',
  'package-lock.json',
]

export interface BuildOptions {
  /** The directory for the pages. Its content is replaced in one step, so that a relay which serves it goes on. */
  directory?: string
  /** Called when the pages have to be built. */
  onBuild?: () => void
}

/**
 * Builds the pages, unless those in the directory were built from the same sources.
 * @returns the directory
 */
export async function buildRelayPages({
  directory = PAGES_DIR,
  onBuild,
}: BuildOptions = {}): Promise<string> {
  await buildDirectory(directory, digestOf(SOURCES), async (built) => {
    onBuild?.()
    await Promise.all([buildProject('relay/web', built), buildFrameworks()])
    await buildProject('examples', path.join(built, 'examples'))
    await buildRelaySdk(built)
    compress(built, '**/*.{html,js,css,svg}')
  })
  return directory
}
