// Collects the assets of an executable: its bundle for threads, native addons for its platform, and the relay's pages and documentation.
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { RELEASE_VERSION } from '../../relay/src/core/version.ts'
import { buildDocumentation } from '../../tools/bundler/documentation.ts'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { root } from '../../tools/programs/command.ts'
import type { ProgramName } from './bundle.ts'
import type { Platform } from './platforms.ts'
import { BUNDLE_ASSET } from './program/single-file.ts'
import { COMPRESSED, DIGEST_ASSET } from './program/unpack-assets.ts'

/** Compresses an addon of 58 MB to 14 MB in two seconds. */
const ZSTD_LEVEL = 9
const HTTP3 = 'node_modules/@currentspace/http3'
const BUFFERUTIL = 'node_modules/bufferutil/prebuilds'

/**
 * @param bundle path of the bundle
 * @param directory directory for files that are made
 * @returns paths by the assets' names
 */
export async function collectAssets(
  name: ProgramName,
  { http3, bufferutil }: Platform,
  bundle: string,
  directory: string,
): Promise<Record<string, string>> {
  const assets: Record<string, string> = { [BUNDLE_ASSET]: bundle }
  if (http3 !== undefined)
    assets[`http3/http3.node${COMPRESSED}`] = compressed(path.join(root, HTTP3, http3), directory)
  if (name === 'svc-relay') {
    if (bufferutil !== undefined)
      assets['bufferutil/bufferutil.node'] = path.join(root, BUFFERUTIL, bufferutil, 'bufferutil.node')
    addFolder(assets, 'pages', await buildRelayPages())
    addFolder(assets, 'documentation', await buildDocumentation())
  }
  const digest = path.join(directory, DIGEST_ASSET)
  writeFileSync(digest, `${name}-${RELEASE_VERSION}-${digestOf(assets)}`)
  return { ...assets, [DIGEST_ASSET]: digest }
}

function addFolder(assets: Record<string, string>, name: string, folder: string): void {
  for (const file of globSync('**/*.*', { cwd: folder }).toSorted())
    assets[`${name}/${file.split(path.sep).join('/')}`] = path.join(folder, file)
}

function compressed(file: string, directory: string): string {
  const output = path.join(directory, `${path.basename(file)}${COMPRESSED}`)
  const params = { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL }
  mkdirSync(directory, { recursive: true })
  writeFileSync(output, zstdCompressSync(readFileSync(file), { params }))
  return output
}

function digestOf(assets: Record<string, string>): string {
  const hash = createHash('sha256')
  for (const [name, file] of Object.entries(assets)) hash.update(`${name}\0`).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}
