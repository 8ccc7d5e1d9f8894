// Downloads of the installer that are small and run anywhere: shell scripts and modules that print a version, compressed and
// with their checksums as `npm run binaries` makes them.

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Bytes that make a download long enough to be cut in its middle. They do not compress. */
export const PADDING_BYTES: number = 1024 * 1024

/** A program that prints the version, and which download it came from. */
export function programText(version: string, slug: string): string {
  const padding = randomBytes(PADDING_BYTES)
    .toString('latin1')
    .replaceAll(/[\n\r]/g, '.')
  return `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else echo ${slug}; fi\nexit 0\n${padding}\n`
}

export function bundleText(version: string): string {
  return `#!/usr/bin/env node\nimport process from 'node:process'\nconsole.log(process.argv[2] === '--version' ? '${version}' : 'node')\n`
}

/** Writes `bin` of the directory. @param texts what the files have in them, by their names without `.gz` */
export async function writeDownloads(directory: string, texts: Record<string, string>): Promise<void> {
  await mkdir(join(directory, 'bin'), { recursive: true })
  const lines: string[] = []
  for (const [name, text] of Object.entries(texts)) {
    const packed = gzipSync(Buffer.from(text, 'latin1'), { level: 1 })
    await writeFile(join(directory, 'bin', `${name}.gz`), packed)
    lines.push(`${createHash('sha256').update(packed).digest('hex')}  ${name}.gz\n`)
  }
  await writeFile(join(directory, 'bin/SHA256SUMS'), lines.join(''))
}
