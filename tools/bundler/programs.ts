// Bundles `svc` and `svc-relay` for the processes that tests start: a few files load in half the time of several hundred.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import { root } from '../programs/command.ts'
import { buildDirectory } from './output-directory.ts'
import { digestOf } from './source-digest.ts'

const MAINS = { svc: 'sdk-node/src/cli/main.ts', 'svc-relay': 'relay/src/main.ts' } as const
const DIRECTORY: string = path.join(root, 'node_modules/.cache/programs')
/** Set while the bundles are those of the sources. */
const VARIABLE = 'TEST_PROGRAMS'
const SOURCES = [
  '{protocol,yamux,tls,payment,node-kit,dns,relay,sdk-core,sdk-node}/{package.json,src/**/*.ts}',
  'tools/bundler/{programs,output-directory}.ts',
  'package-lock.json',
]
/** What tests preload replaces a method of these: they stay modules of their own. */
const REPLACED = [
  'relay/src/core/ingress/overload-monitor.ts',
  'relay/src/core/node-internals/shared-read-buffer.ts',
]
const OWN_PACKAGE = /^@svc\//

/** For the processes that this one starts from now on, and those that they start. */
export async function bundlePrograms(): Promise<void> {
  await buildDirectory(DIRECTORY, digestOf(SOURCES), build)
  process.env[VARIABLE] = DIRECTORY
}

/** @returns the file that Node runs: of the bundle, or of the sources where there is none */
export function programFile(name: keyof typeof MAINS): string {
  const bundles = process.env[VARIABLE]
  return bundles === undefined ? path.join(root, MAINS[name]) : path.join(bundles, `${name}.js`)
}

async function build(outDir: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [keepPlaces()],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      target: 'esnext',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(MAINS).map(([name, main]) => [name, path.join(root, main)])),
      },
    },
  })
}

/** Modules find the files beside their sources, and Node finds the packages of others. */
function keepPlaces(): Plugin {
  return {
    name: 'keep-places',
    enforce: 'pre',
    async resolveId(source, importer) {
      const resolved = await this.resolve(source, importer, { skipSelf: true })
      const id = resolved?.id ?? ''
      // A name that begins with # is known only beside its package.json.
      const isPrivate = source.startsWith('#') && id.includes('/node_modules/')
      if (isPrivate || REPLACED.some((file) => path.join(root, file) === id))
        return { id, external: 'absolute' }
      // Of two versions of a package, the other is not where Node looks.
      const isFound = id.startsWith(path.join(root, 'node_modules/')) && !OWN_PACKAGE.test(source)
      return isFound ? { id: source, external: true } : resolved
    },
    async load(id) {
      if (!id.endsWith('.ts')) return undefined
      const code = await readFile(id, 'utf8')
      return code
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
        .replaceAll('import.meta.filename', JSON.stringify(id))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    },
  }
}
