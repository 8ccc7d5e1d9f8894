// Builds the relay's pages, the examples below them and the SDK for pages of others into the relay's package: what `svc-relay`
// serves at its root host.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { root } from '../programs/command.ts'
import { buildFrameworks } from './framework-apps.ts'
import { buildDirectory, buildProject } from './output-directory.ts'
import { buildRelaySdk } from './relay-sdk.ts'

/** The directory in which the relay looks (relay/src/core/api/handlers/built-in-pages.ts). */
const PAGES_DIR: string = path.join(root, 'relay/pages')
/** The sources of the pages. */
const SOURCES = [
  'relay/web/{*.html,package.json,*.ts,public/**,src/**}',
  'examples/**',
  '{protocol,yamux,tls,payment,sdk-core,sdk-browser}/{package.json,src/**}',
  'tools/sui-node/*.ts',
  'tools/bundler/{font-preload,relay-pages,relay-sdk,framework-apps,output-directory}.ts',
  'relay/src/core/version.ts',
  'package-lock.json',
]
/** Bytes below which compression gains nothing. */
const COMPRESSED_MIN_BYTES = 1024
/** The quality of Brotli: the files are nearly as small as with 11, in a tenth of the time. */
const BROTLI_QUALITY = 9

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
  await buildDirectory(directory, SOURCES, async (built) => {
    onBuild?.()
    await Promise.all([buildProject('relay/web', built), buildFrameworks()])
    await buildProject('examples', path.join(built, 'examples'))
    await buildRelaySdk(built)
    compress(built)
  })
  return directory
}

/** Compresses each file for which it is worth it, so that the relay need not do so at each request. */
function compress(directory: string): void {
  for (const file of globSync('**/*.{html,js,css,svg}', { cwd: directory })) {
    const name = path.join(directory, file)
    const content = readFileSync(name)
    if (content.length < COMPRESSED_MIN_BYTES) continue
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
    writeFileSync(`${name}.br`, brotliCompressSync(content, { params }))
    writeFileSync(`${name}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
  }
}
