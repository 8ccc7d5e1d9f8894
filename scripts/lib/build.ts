// Builds what a relay serves at its root host: its own pages, and the examples.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { root } from './command.ts'

/** Smaller files gain nothing. */
const COMPRESSED_MIN_BYTES = 1024
/** Nearly as small as with 11, in a tenth of the time. */
const BROTLI_QUALITY = 9

/**
 * @param siteDir where the relay will look for its static files; what was there is replaced
 * @returns the same
 */
export async function buildSite(siteDir: string = path.join(root, 'relay/web/dist')): Promise<string> {
  for (const [project, outDir] of [
    ['relay/web', siteDir],
    ['examples', path.join(siteDir, 'examples')],
  ] as const) {
    const configFile = path.join(root, project, 'vite.config.ts')
    await build({ configFile, logLevel: 'warn', build: { outDir } })
  }
  compress(siteDir)
  return siteDir
}

/** Beside each file that it is worth for, so that the relay need not do it at each request. */
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
