// A framework's server as one module without imports of its own, so that any bundler takes it into a page.

import { isBuiltin } from 'node:module'
import path from 'node:path'
import { build, type Plugin } from 'vite'

const ENTRY = '\0svc:site'
const BUILTIN = '\0svc:builtin'
/** A warning of `"use client"` at the top of a file: here nobody has to know which component is a client's. */
const USE_CLIENT = 'MODULE_LEVEL_DIRECTIVE'

/**
 * @param code the module that becomes `site.js`; what it imports is looked for from `directory`
 * @param file where it is written to
 */
export async function bundleServer(code: string, directory: string, file: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [entry(code, directory), builtins],
    // A page is neither Node nor, to a server's code, a client: what packages have for workers fits.
    ssr: {
      target: 'webworker',
      noExternal: true,
      resolve: { conditions: ['worker', 'module', 'production'] },
    },
    build: {
      ssr: true,
      outDir: path.dirname(file),
      emptyOutDir: false,
      // the page's own build does
      minify: false,
      rolldownOptions: {
        input: ENTRY,
        // a slow machine is no news
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

/** Frameworks look whether they are in Node by trying: what they find has nothing in it. */
const builtins: Plugin = {
  name: 'svc:builtins',
  enforce: 'pre',
  resolveId: (id) => (isBuiltin(id) ? BUILTIN : undefined),
  load: (id) => (id === BUILTIN ? { code: 'module.exports = {}', moduleType: 'js' } : undefined),
}
