// Builds every example (a folder with an index.html) as a page below /examples/, where their index is.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { defineConfig, type Plugin, type UserConfig } from 'vite'
import { exampleSources } from '../tools/bundler/example-sources.ts'
import { fontPreload } from '../tools/bundler/font-preload.ts'
import { scriptAsText } from '../tools/bundler/script-as-text.ts'

const root: string = import.meta.dirname
const pages: string[] = globSync('**/index.html', { cwd: root, exclude: ['dist', '*/app'] }).map((file) =>
  path.join(root, file),
)

/** What every page begins with: the elements of its head, and the header that leads home. */
const commonFrame: Plugin = {
  name: 'common-frame',
  transformIndexHtml: {
    order: 'pre',
    handler: (_html, { path: page }) => [
      ...[
        { tag: 'meta', attrs: { charset: 'utf-8' } },
        { tag: 'meta', attrs: { name: 'viewport', content: 'width=device-width' } },
        { tag: 'meta', attrs: { name: 'color-scheme', content: 'light dark' } },
        ...SCHEMES.map(([scheme, content]) => ({
          tag: 'meta',
          attrs: { name: 'theme-color', content, media: `(prefers-color-scheme: ${scheme})` },
        })),
        { tag: 'meta', attrs: { name: 'description', content: descriptionOf(page) } },
        { tag: 'meta', attrs: { property: 'og:type', content: 'website' } },
        { tag: 'meta', attrs: { property: 'og:image', content: '/card.jpg' } },
        { tag: 'meta', attrs: { name: 'twitter:card', content: 'summary_large_image' } },
        { tag: 'link', attrs: { rel: 'icon', href: '/favicon.svg', type: 'image/svg+xml' } },
        { tag: 'link', attrs: { rel: 'stylesheet', href: '/shared/frame.css' } },
      ].map((tag) => ({ ...tag, injectTo: 'head-prepend' as const })),
      { tag: 'header', attrs: { class: 'top' }, children: headerOf(page), injectTo: 'body-prepend' },
    ],
  },
}

/** The colours of the browser around the page: `--ground`. */
const SCHEMES = [
  ['light', '#f6f5f2'],
  ['dark', '#15171a'],
]

/** The relay serves its mark at its root, and the examples below it. */
function headerOf(page: string): string {
  const source = isIndex(page) ? '' : `<a href="/examples${page.replace('index.html', 'source/')}">Source</a>`
  return `<a href="/"><strong class="mark"><img src="/favicon.svg" alt="" width="24" height="24">svc</strong></a>
<nav aria-label="Pages">${source}<a href="/examples/">Examples</a><a href="/docs/">Docs</a></nav>`
}

/** What the index says of a page, and of itself, without markup. */
function descriptionOf(page: string): string {
  const index = readFileSync(path.join(root, 'index.html'), 'utf8')
  const from = isIndex(page) ? '<h1>' : `"/examples${page.replace('index.html', '')}"`
  const [, said = ''] = /<p>(.*?)<\/p>/s.exec(index.slice(index.indexOf(from))) ?? []
  return said.replaceAll(/<[^<>]*>/g, '').replaceAll(/\s+/g, ' ')
}

function isIndex(page: string): boolean {
  return page === '/index.html'
}

/** A build on a busy machine is slow, which is no news to who waits for it. */
const checks = { bundlerTimings: false }

/** A framework's server with its client in it is more than Vite thinks that a page should have, in kB. */
const FRAMEWORK_KB = 2000

/**
 * The libraries of payments are optional. Where they are not installed, the one example that needs them says so, and all
 * others are built as ever.
 */
export function withoutPayments(isInstalled: boolean): Plugin {
  const message = 'This example was built without the libraries of payments: npm ci installs them.'
  const code = `export const NETWORK = ''
    export const openPlayMoney = async () => { throw new Error(${JSON.stringify(message)}) }`
  return {
    name: 'without-payments',
    enforce: 'pre',
    load: (id) =>
      isInstalled || !id.endsWith('/paid/play-money.ts') ? undefined : { code, moduleType: 'js' },
  }
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

const config: UserConfig = defineConfig({
  root,
  base: '/examples/',
  build: {
    // The relay serves dist: what it finds in dist/examples is at /examples/.
    outDir: 'dist/examples',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: FRAMEWORK_KB,
    rolldownOptions: { checks, input: pages },
  },
  worker: {
    format: 'es',
    // A service worker's place is its scope, and a name that stays is what lets the browser replace it.
    rolldownOptions: { checks, output: { entryFileNames: 'service-worker/[name].js' } },
  },
  plugins: [
    commonFrame,
    exampleSources(root),
    fontPreload(),
    scriptAsText(),
    withoutPayments(isInstalled('@mysten/sui/bcs')),
  ],
})

export default config
