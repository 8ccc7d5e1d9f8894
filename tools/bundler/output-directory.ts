// Makes the output of a build in a temporary directory, and puts it in its place in one step.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../programs/command.ts'

/** Says what a directory was built from; no server of ours serves a name that begins with a dot. */
const STAMP = '.built-from'

/**
 * Builds a directory, unless what is there was built from the same sources. Its content is replaced in one step.
 * @param sources says which these are: a digest of them (source-digest.ts)
 * @param build writes to the directory that it is given, which is not there yet
 */
export async function buildDirectory(
  directory: string,
  sources: string,
  build: (built: string) => Promise<void>,
): Promise<void> {
  if (stampOf(directory) === sources) return
  const temporary = temporaryDirectory(`svc-${path.basename(directory)}-`)
  const built = path.join(temporary, 'built')
  const remove = (): void => rmSync(temporary, { recursive: true, force: true })
  // Ctrl-C ends the process where it is.
  process.once('exit', remove)
  try {
    await build(built)
    writeFileSync(path.join(built, STAMP), sources)
    replaceDirectory(directory, built, path.join(temporary, 'replaced'))
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** Builds a project of Vite, also in a test: JSX for development would be larger, and name files of this machine. */
export async function buildProject(project: string, outDir: string): Promise<void> {
  // only a process that builds loads this: it takes its time
  const { build } = await import('vite')
  const configFile = path.join(root, project, 'vite.config.ts')
  await build({ configFile, logLevel: 'warn', build: { outDir }, oxc: { jsx: { development: false } } })
}

/** @returns whether a directory was built from `sources`, and perhaps from more */
export function isBuiltFrom(directory: string, sources: string): boolean {
  return stampOf(directory)?.startsWith(sources) ?? false
}

function stampOf(directory: string): string | undefined {
  try {
    return readFileSync(path.join(directory, STAMP), 'utf8')
  } catch {
    return undefined
  }
}

/** @returns a new directory on the same file system as the repository, named after `prefix`; its user removes it */
export function temporaryDirectory(prefix: string): string {
  const cache = path.join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  return mkdtempSync(path.join(cache, prefix))
}

/** Moves `next` to `directory`, and what is there to `old`. */
export function replaceDirectory(directory: string, next: string, old: string): void {
  ignoring('ENOENT', () => renameSync(directory, old))
  // Another process that built at the same time, and was faster, has built the same.
  ignoring('ENOTEMPTY', () => renameSync(next, directory))
}

function ignoring(code: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error
  }
}
