// Makes the package of a later release from one that is there: the same files, with a higher version and another default file.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from './run.ts'

/** Milliseconds for compressing an executable again. */
const BUILD_TIMEOUT_MS = 5 * 60_000
/** Debian sorts it after the version without it. */
const SUFFIX = '+next'

/** The settings file of the later release has a line more, so that dpkg has to choose whose changes it keeps. */
export async function nextRelease(file: string, directory: string): Promise<string> {
  const unpacked = path.join(directory, 'next')
  await run(['dpkg-deb', '--raw-extract', file, unpacked])
  const control = path.join(unpacked, 'DEBIAN/control')
  const text = await readFile(control, 'utf8')
  await writeFile(
    control,
    text.replace(/^Version: .*$/m, (line) => `${line}${SUFFIX}`),
  )
  const settings = path.join(unpacked, 'etc/svc/relay.env')
  await writeFile(settings, `${await readFile(settings, 'utf8')}\n# A setting of a later release.\n#LATER=\n`)
  const next = path.join(directory, path.basename(file).replace(/_([^_]+)_/, `_$1${SUFFIX}_`))
  await run(['dpkg-deb', '--root-owner-group', '-Zgzip', '-z1', '--build', unpacked, next], {
    timeoutMs: BUILD_TIMEOUT_MS,
  })
  return next
}
