// Compresses what a relay serves, so that it need not do so at each request.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Bytes below which compression gains nothing. */
const COMPRESSED_MIN_BYTES = 1024
/** The quality of Brotli: the files are nearly as small as with 11, in a tenth of the time. */
const BROTLI_QUALITY = 9

/**
 * Writes a `.br` beside each file for which it is worth it, and a `.gz` for programs that know no Brotli.
 * @param files a glob
 */
export function compress(
  directory: string,
  files: string,
  { hasGzip = true }: { hasGzip?: boolean } = {},
): void {
  for (const file of globSync(files, { cwd: directory })) {
    const name = path.join(directory, file)
    const content = readFileSync(name)
    if (content.length < COMPRESSED_MIN_BYTES) continue
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
    writeFileSync(`${name}.br`, brotliCompressSync(content, { params }))
    if (hasGzip) writeFileSync(`${name}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
  }
}
