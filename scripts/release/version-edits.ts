// Finds every place that has the version of the packages, and writes the next one there.
import path from 'node:path'

/** A file with its new text. */
export interface Edit {
  /** Path from the repository's root. */
  file: string
  text: string
}

/** Modules that have the version in their code, since they may be part of a program that is one file. */
const MODULES = ['relay/src/core/version.ts', 'sdk-node/src/version.ts']
const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const

type Manifest = { name?: string; version?: string; workspaces?: string[] } & {
  [Kind in (typeof DEPENDENCIES)[number]]?: Record<string, string>
}

/**
 * @param read returns the text of a file, by its path from the repository's root
 * @throws Error when a file does not have the current version
 */
export function versionEdits(read: (file: string) => string, current: string, next: string): Edit[] {
  const { workspaces = [] } = JSON.parse(read('package.json')) as Manifest
  const files = ['', ...workspaces].map((folder) => path.posix.join(folder, 'package.json'))
  const names = new Set(files.map((file) => (JSON.parse(read(file)) as Manifest).name ?? ''))
  const rewrite = (file: string, change: (manifest: Manifest) => void): Edit => {
    const manifest = JSON.parse(read(file)) as Manifest
    change(manifest)
    return { file, text: `${JSON.stringify(manifest, null, 2)}\n` }
  }
  const setVersions = (manifest: Manifest, file: string): void => {
    if (manifest.version !== current)
      throw new Error(`${file} has the version ${manifest.version}, and not ${current}`)
    manifest.version = next
    for (const kind of DEPENDENCIES)
      for (const [name, range] of Object.entries(manifest[kind] ?? {}))
        if (names.has(name)) manifest[kind]![name] = rangeFor(name, range)
  }
  const rangeFor = (name: string, range: string): string => {
    if (!range.endsWith(current)) throw new Error(`a package needs ${name} ${range}, and not ${current}`)
    return range.slice(0, -current.length) + next
  }
  return [
    ...files.map((file) => rewrite(file, (manifest) => setVersions(manifest, file))),
    rewrite('package-lock.json', (lock) => {
      const { packages } = lock as { packages: Record<string, Manifest> }
      lock.version = next
      for (const folder of ['', ...workspaces])
        setVersions(packages[folder] ?? {}, `package-lock.json, "${folder}",`)
    }),
    ...MODULES.map((file) => ({ file, text: replaceConstant(read(file), file, current, next) })),
  ]
}

function replaceConstant(text: string, file: string, current: string, next: string): string {
  const changed = text.replace(`'${current}'`, `'${next}'`)
  if (changed === text) throw new Error(`${file} does not have the version ${current}`)
  return changed
}
