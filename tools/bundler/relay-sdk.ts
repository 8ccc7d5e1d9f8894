// Builds the browser SDK as a relay serves it to pages that have no bundler: an entry, the modules that it loads at once and
// later, and a manifest with the digest of each.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PATH } from '@svc/protocol'
import type { Rolldown } from 'vite'
import { RELEASE_VERSION } from '../../relay/src/core/version.ts'
import { root } from '../programs/command.ts'

/** The hash algorithm of Subresource Integrity that the manifest uses. */
const DIGEST = 'sha384'
const SDK: string = path.join(root, 'sdk-browser/src/index.ts')

/** @param outDir directory of the relay's pages; the SDK's files lie there under their paths at the relay */
export async function buildRelaySdk(outDir: string): Promise<void> {
  const { chunks, exported } = await bundleSdk()
  const main = chunks.find((chunk) => chunk.isEntry)
  if (main === undefined) throw new Error('the build of the SDK has no entry')
  const files: [string, string][] = [
    [PATH.sdkEntry, entryOf(main, exported)],
    ...chunks.map((chunk): [string, string] => [`/${chunk.fileName}`, chunk.code]),
  ]
  mkdirSync(path.join(outDir, PATH.sdkModules), { recursive: true })
  for (const [name, code] of files) writeFileSync(path.join(outDir, name), code)
  const manifest = {
    release: RELEASE_VERSION,
    integrity: Object.fromEntries(files.map(([name, code]) => [name, digestOf(code)])),
  }
  writeFileSync(path.join(outDir, 'sdk/manifest.json'), JSON.stringify(manifest))
}

/**
 * The entry has no code of its own, so that a page has one SDK, by whichever path it imports that. It names all that
 * is needed at once, so that a browser fetches it side by side.
 */
function entryOf(main: Rolldown.OutputChunk, exported: readonly string[]): string {
  const besides = main.imports.map((name) => `import '/${name}'\n`)
  return `${besides.join('')}export { ${exported.join(', ')} } from '/${main.fileName}'\n`
}

/** @returns the chunks, and what the SDK exports: its chunk exports more, for the others */
async function bundleSdk(): Promise<{ chunks: Rolldown.OutputChunk[]; exported: readonly string[] }> {
  // only a process that builds loads this: it takes its time
  const { build } = await import('vite')
  const names = `${PATH.sdkModules.slice(1)}[name]-[hash].js`
  let exported: readonly string[] = []
  const readExports: Rolldown.Plugin = {
    name: 'read-exports',
    generateBundle() {
      exported = this.getModuleInfo(SDK)?.exports ?? []
    },
  }
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    plugins: [readExports],
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: {
        input: { sdk: SDK },
        // What is needed at once is one file where it can be, also what later files share with it.
        preserveEntrySignatures: 'allow-extension',
        output: { entryFileNames: names, chunkFileNames: names },
        checks: { bundlerTimings: false },
      },
    },
  })
  const chunks = (result as Rolldown.RolldownOutput).output.filter((file) => file.type === 'chunk')
  return { chunks, exported }
}

function digestOf(code: string): string {
  return `${DIGEST}-${createHash(DIGEST).update(code).digest('base64')}`
}
