// Makes the import map with which a browser loads the packages from a served node_modules, without a build.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Manifest, Target } from './published.ts'

/** The conditions of a page, in no order: those of the package decide. */
const CONDITIONS: ReadonlySet<string> = new Set(['browser', 'import', 'default'])

/** @returns a script element; its addresses are paths below `directory`, which is served at `/` */
export function importMap(directory: string): string {
  const imports: Record<string, string> = {}
  const seen = new Set<string>()
  const visit = (name: string, from: string): void => {
    const folder = folderOf(name, from)
    if (folder === undefined || seen.has(folder)) return
    seen.add(folder)
    const manifest: Manifest & { main?: string; module?: string; browser?: unknown } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    )
    const address = (file: string): string =>
      `/${path.relative(directory, path.join(folder, file)).replaceAll(path.sep, '/')}`
    const legacy = [manifest.browser, manifest.module, manifest.main].find((one) => typeof one === 'string')
    for (const [entry, target] of Object.entries(manifest.exports ?? { '.': `./${legacy}` })) {
      const file = fileOf(target)
      if (file?.startsWith('./')) imports[path.posix.join(name, entry)] ??= address(file)
    }
    for (const [alias, target] of Object.entries(manifest.imports ?? {})) {
      const found = fileOf(target)
      if (found !== undefined) aliases.push([alias, found])
    }
    for (const dependency of Object.keys(manifest.dependencies ?? {})) visit(dependency, folder)
  }
  const aliases: [string, string][] = []
  visit('@svc/sdk-browser', directory)
  for (const [alias, target] of aliases) if (imports[target]) imports[alias] = imports[target]
  return `<script type="importmap">${JSON.stringify({ imports }, undefined, 1)}</script>`
}

/** npm puts a package beside those that need it, or above. */
function folderOf(name: string, from: string): string | undefined {
  const paths = createRequire(path.join(from, 'package.json')).resolve.paths(name) ?? []
  return paths.map((folder) => path.join(folder, name)).find(isPackage)
}

function isPackage(folder: string): boolean {
  try {
    readFileSync(path.join(folder, 'package.json'))
    return true
  } catch {
    return false
  }
}

function fileOf(target: Target | null): string | undefined {
  if (target === null) return undefined
  if (typeof target === 'string') return target
  for (const [condition, inner] of Object.entries(target)) {
    const found = CONDITIONS.has(condition) ? fileOf(inner) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
