// Builds the relay's face: static files, one HTML file for each route that the relay is asked for.
import { cpSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { defineConfig, type Plugin, type UserConfig } from 'vite'
import { fontPreload } from '../../tools/bundler/font-preload.ts'
import { scriptAsText } from '../../tools/bundler/script-as-text.ts'

/** Beside `/`; src/shell/routes.ts has the same. */
const ROUTES = ['sites', 'relays', 'admin', 'ca']

/** A static server finds `/admin` as `admin/index.html`. */
const routesAsFolders: Plugin = {
  name: 'routes-as-folders',
  writeBundle({ dir = '' }) {
    for (const route of ROUTES) {
      mkdirSync(path.join(dir, route), { recursive: true })
      cpSync(path.join(dir, 'index.html'), path.join(dir, route, 'index.html'))
    }
  },
}

/** What every page needs: in one file, for each file of the first load is a request. */
const BASE =
  /\/node_modules\/preact\/|\/relay\/web\/src\/(?:preact|common\/(?:api|store))\.ts$|\/protocol\/src\/api-paths\.ts$/

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // A data: URL would save a request and cost a cache.
    assetsInlineLimit: 0,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      input: ['index.html', '404.html', 'start.html'].map((page) => path.join(import.meta.dirname, page)),
      output: { codeSplitting: { groups: [{ name: 'base', test: BASE }] } },
    },
  },
  worker: {
    rolldownOptions: {
      output: {
        // The place of a service worker is its scope, and a name that stays is what lets the browser replace it.
        entryFileNames: ({ facadeModuleId }) =>
          facadeModuleId?.includes('share-target') ? 'share-target/worker.js' : 'assets/[name]-[hash].js',
      },
    },
  },
  plugins: [routesAsFolders, fontPreload(), scriptAsText()],
})

export default config
