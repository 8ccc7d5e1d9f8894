// Writes a framework's build, server and client files, as one module that a page can publish. The
// adapters run in Node during the framework's build; none of their code gets into the page.

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Bundle, BundledFile } from '@svc/sdk-core/handlers'
import { bundleServer } from './bundle-server.ts'

const INDEX = 'index.html'
/** Vite's manifest, which is not for visitors. */
const VITE = /[/\\]\.vite$/
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export interface AdapterOptions {
  /**
   * The directory for `site.js`, relative to the root of the build.
   * @default build
   */
  out?: string | undefined
}

export interface SiteParts {
  /** The directory of `site.js`. */
  out: string
  /** The directories of files for visitors. */
  files: readonly string[]
  /** The prefix of all their paths, such as `/docs/`. The slashes are optional. */
  base: string
  /**
   * Maps a path, which includes the base, to a file name, which does not. By default each `index.html` answers for
   * its directory, with and without a trailing slash.
   */
  pages?: Bundle['pages']
  /** The prefix, relative to `base`, of files that never change. */
  immutable: string
  /** The code of a module that declares `handle`, a fetch handler. Its imports are relative to `directory`. */
  server: string
  directory: string
}

/** Writes `site.js`, which exports `fetch`, and its type declaration. */
export async function writeSite(parts: SiteParts): Promise<void> {
  const { out, server, directory } = parts
  const basePath = parts.base.replace(/^\/|\/$/g, '')
  const base = basePath === '' ? '' : `${basePath}/`
  const found = await Promise.all(parts.files.map(readFiles))
  const files = Object.fromEntries(found.flat().map(([name, file]) => [base + name, file]))
  const pages = parts.pages
    ? Object.entries(parts.pages).map(([path, name]) => [path, base + name])
    : indexPages(Object.keys(files))
  const bundle: Bundle = { files, pages: Object.fromEntries(pages), immutable: base + parts.immutable }
  // The globals are imported first, because a browser's own Response drops cookies.
  const code = `import '@svc/sdk-browser/globals'
import { bundled } from '@svc/sdk-browser/handlers'
${server}
export const fetch = bundled(${JSON.stringify(bundle)}, handle)
`
  const types = `import type { FetchHandler } from '@svc/sdk-browser'\nexport declare const fetch: FetchHandler\n`
  await mkdir(out, { recursive: true })
  await bundleServer(code, directory, path.join(out, 'site.js'))
  await writeFile(path.join(out, 'site.d.ts'), types)
}

function indexPages(names: string[]): [path: string, name: string][] {
  const indexes = names.filter((name) => path.posix.basename(name) === INDEX)
  const pathsOf = (name: string): string[] => {
    const directory = `/${name.slice(0, -INDEX.length)}`
    return [directory, directory.slice(0, -1)]
  }
  return indexes.flatMap((name) => pathsOf(name).map((path): [string, string] => [path, name]))
}

async function readFiles(directory: string): Promise<[name: string, file: BundledFile][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !VITE.test(entry.parentPath))
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = path.join(parentPath, name)
      const below = path.relative(directory, file).split(path.sep).join('/')
      return [below, await readOne(file)] as [string, BundledFile]
    }),
  )
}

async function readOne(file: string): Promise<BundledFile> {
  const [bytes, { mtimeMs }] = await Promise.all([readFile(file), stat(file)])
  const modified = Math.floor(mtimeMs)
  try {
    return { text: UTF8.decode(bytes), modified }
  } catch {
    return { base64: bytes.toString('base64'), modified }
  }
}
