// Bundles a framework's server as one module without imports, so that any bundler can include it in a page.

import { isBuiltin } from 'node:module'
import path from 'node:path'
import { build, type Plugin, version } from 'vite'

const ENTRY = '\0svc:site'
const BUILTIN = '\0svc:builtin'
/**
 * Rollup's warning of `"use client"` at the top of a file. The server need not know which components are the client's.
 */
const USE_CLIENT = 'MODULE_LEVEL_DIRECTIVE'

/** The first major version of Vite that bundles with Rolldown. The options below are Rolldown's. */
const VITE_MAJOR = 8

/**
 * Bundles a module.
 * @param code the module that becomes `site.js`; its imports are resolved from `directory`
 * @param file the path of the output
 * @throws Error when Vite is older
 */
export async function bundleServer(code: string, directory: string, file: string): Promise<void> {
  if (Number.parseInt(version, 10) < VITE_MAJOR)
    throw new Error(`The adapters of @svc/sdk-browser need Vite ${VITE_MAJOR} or later; this is ${version}`)
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [entry(code, directory), builtins],
    // A page is not Node, and server code must not see a client: packages resolve to their variants for workers.
    ssr: {
      target: 'webworker',
      noExternal: true,
      resolve: { conditions: ['worker', 'module', 'production'] },
    },
    build: {
      ssr: true,
      outDir: path.dirname(file),
      emptyOutDir: false,
      // The page's own build minifies.
      minify: false,
      rolldownOptions: {
        input: ENTRY,
        // These warnings only say that the machine is slow.
        checks: { bundlerTimings: false },
        external: /^@svc\/sdk-browser/,
        onwarn: (warning, warn) => warning.code === USE_CLIENT || warn(warning),
        output: { format: 'es', codeSplitting: false, entryFileNames: path.basename(file) },
      },
    },
  })
}

function entry(code: string, directory: string): Plugin {
  return {
    name: 'svc:site',
    enforce: 'pre',
    resolveId(id, importer) {
      if (id === ENTRY) return ENTRY
      return importer === ENTRY ? this.resolve(id, path.join(directory, 'site.js')) : undefined
    },
    load: (id) => (id === ENTRY ? code : undefined),
  }
}

/** Frameworks import Node's modules to detect Node. These modules are empty. */
const builtins: Plugin = {
  name: 'svc:builtins',
  enforce: 'pre',
  resolveId: (id) => (isBuiltin(id) ? BUILTIN : undefined),
  load: (id) => (id === BUILTIN ? { code: 'module.exports = {}', moduleType: 'js' } : undefined),
}
