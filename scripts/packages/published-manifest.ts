// Derives the package.json of a tarball from that of the checkout, which leads to `src` and is private.
import type { Manifest, Target } from './published.ts'

interface Release {
  /** The versions of the packages that are published together, by name. */
  versions: Readonly<Record<string, string>>
  /** The repository, as the package.json at its root names it. */
  repository: Manifest['repository']
  /** The folder of the package in the repository. */
  folder: string
}

/** Node and package managers read it; it costs nothing to offer it. */
const OWN_MANIFEST = { './package.json': './package.json' }

/**
 * The manifest of a tarball: it names `dist` for `src`, and exactly the versions that are published with it.
 * @throws Error when the manifest lacks what users need to judge the package, or names a source that has no output
 */
export function publishedManifest(manifest: Manifest, { versions, repository, folder }: Release): Manifest {
  const { private: _, scripts: _scripts, devDependencies: _development, ...rest } = manifest
  for (const field of ['description', 'keywords', 'license', 'sideEffects', 'exports'])
    if (manifest[field] === undefined) throw new Error(`${folder}/package.json has no ${field}`)
  if (repository === undefined) throw new Error('package.json has no repository')
  const { sideEffects, files, exports, imports, bin, dependencies } = rest
  return {
    ...rest,
    repository: { ...repository, directory: folder },
    sideEffects: Array.isArray(sideEffects) ? sideEffects.map(outputOf) : sideEffects!,
    files: (files ?? ['src']).map((name) => (name === 'src' ? 'dist' : name)),
    exports: { ...mapValues(exports!, conditionsOf), ...OWN_MANIFEST },
    ...(imports && { imports: mapValues(imports, outputsOf) }),
    ...(bin && { bin: mapValues(bin, outputOf) }),
    ...(dependencies && { dependencies: mapEntries(dependencies, (name, range) => versions[name] ?? range) }),
  }
}

/** `types` comes first: a resolver takes the first condition that it knows. */
function conditionsOf(target: Target): Target {
  if (typeof target !== 'string') return mapValues(target, conditionsOf)
  const output = outputOf(target)
  return output.endsWith('.js') ? { types: output.replace(/\.js$/, '.d.ts'), default: output } : output
}

function outputsOf(target: Target): Target {
  return typeof target === 'string' ? outputOf(target) : mapValues(target, outputsOf)
}

/** The output of a source file; any other name stays as it is. */
function outputOf(name: string): string {
  const [, file] = /^(?:\.\/)?src\/(.+)$/.exec(name) ?? []
  if (file === undefined) return name
  return `./dist/${/\.d\.ts$/.test(file) ? file : file.replace(/\.ts$/, '.js')}`
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return mapEntries(record, (_, value) => change(value))
}

function mapEntries<T, U>(
  record: Record<string, T>,
  change: (key: string, value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(key, value)]))
}
