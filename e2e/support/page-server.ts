// The suite's own page, served from an origin that is not the relay's: any page may embed the SDK.
import path from 'node:path'
import { buildDirectory } from '../../tools/bundler/output-directory.ts'
import { digestOf } from '../../tools/bundler/source-digest.ts'
import { freePort } from '../../tools/network/free-port.ts'

const root: string = path.resolve(import.meta.dirname, '../pages')
const outDir: string = path.resolve(import.meta.dirname, '../../node_modules/.cache/e2e-pages')

/** The worker's script without `import()`, as a service worker needs it that is to load all of the SDK. */
const SINGLE_FILE_WORKER = 'single-file-worker.js'
/** The sources of the page. */
const SOURCES = [
  'e2e/pages/**',
  'e2e/support/{page-server,reference-payer}.ts',
  '{protocol,yamux,tls,payment,sdk-core,sdk-browser}/{package.json,src/**}',
  'tools/sui-node/*.ts',
  'package-lock.json',
]

/** Builds the page, unless the one that is there was built from the same sources. */
export async function buildPages(): Promise<void> {
  await buildDirectory(outDir, digestOf(SOURCES), build)
}

async function build(outDir: string): Promise<void> {
  // only a process that builds or serves loads this: it takes its time
  const vite = await import('vite')
  const input = ['index.html', 'contexts.html', 'payments.html'].map((page) => path.join(root, page))
  await vite.build({
    configFile: false,
    root,
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true, rolldownOptions: { input } },
    worker: { format: 'es' },
  })
  await vite.build({
    configFile: false,
    root,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: false,
      modulePreload: false,
      rolldownOptions: {
        input: path.join(root, 'worker.ts'),
        output: { format: 'iife', codeSplitting: false, entryFileNames: SINGLE_FILE_WORKER },
      },
    },
  })
}

export interface PageServer {
  url: string
  close(): Promise<void>
}

/** `http://localhost`, so that it is a secure context without any certificate. */
export async function servePages(): Promise<PageServer> {
  const { preview } = await import('vite')
  const port = await freePort()
  const options = { host: 'localhost', port, strictPort: true }
  const server = await preview({
    configFile: false,
    root,
    logLevel: 'error',
    build: { outDir },
    preview: options,
  })
  return { url: `http://localhost:${port}/`, close: () => server.close() }
}
