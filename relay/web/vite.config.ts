// Builds the relay's face: static files, one HTML file for each route that the relay is asked for.
import { cpSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { defineConfig, type Plugin, type UserConfig } from 'vite'

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

/** The page loads its font with its style, so that the text is drawn once. */
const fontPreload: Plugin = {
  name: 'font-preload',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => name.endsWith('.woff2'))
        .map((name) => ({
          tag: 'link',
          attrs: { rel: 'preload', href: `/${name}`, as: 'font', type: 'font/woff2', crossorigin: true },
          injectTo: 'head-prepend',
        })),
  },
}

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // A data: URL would save a request and cost a cache.
    assetsInlineLimit: 0,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  plugins: [routesAsFolders, fontPreload],
})

export default config
