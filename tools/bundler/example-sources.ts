// A plugin of Vite for the examples: each gets a page with its source, in the frame of its own page.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { escapeHtml } from '@svc/protocol/documents'
import type { Plugin } from 'vite'

const PAGE = /^([\w-]+)\/index\.html$/
const FILES = '**/*.{astro,css,html,js,json,svelte,ts,tsx}'
/** What builds leave beside the source. */
const MADE = ['**/node_modules', '**/build', '**/dist', '**/.*', '**/package-lock.json']
/** The parts of an example's page that its source does not need. */
const MAIN = /<main[\s\S]*<\/main>/
const SCRIPTS = /<script[\s\S]*?<\/script>|<link rel="modulepreload"[^>]*>/g
const TITLE = /<title>(.*?) · svc<\/title>/

/** @param root the folder of the examples */
export function exampleSources(root: string): Plugin {
  return {
    name: 'example-sources',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const [fileName, page] of Object.entries(bundle)) {
          const [, name] = PAGE.exec(fileName) ?? []
          if (name === undefined || page.type !== 'asset') continue
          const source = sourcePage(path.join(root, name), String(page.source))
          this.emitFile({ type: 'asset', fileName: `${name}/source/index.html`, source })
        }
      },
    },
  }
}

/** @param page the example's own, as it was built */
function sourcePage(folder: string, page: string): string {
  const title = TITLE.exec(page)?.[1] ?? ''
  const files = globSync(FILES, { cwd: folder, exclude: MADE }).sort()
  const parts = files.map((file) => {
    const text = escapeHtml(readFileSync(path.join(folder, file), 'utf8'))
    const name = escapeHtml(file.replaceAll(path.sep, '/'))
    return `<h2>${name}</h2>\n<pre class="source" tabindex="0" role="region" aria-label="${name}"><code>${text}</code></pre>`
  })
  const main = `<main class="index">
<h1>Source of “${title}”</h1>
<p class="quiet">These files are all that the example has of its own. <a href="../">See it run</a></p>
${parts.join('\n')}
</main>`
  return page
    .replace(SCRIPTS, '')
    .replace(TITLE, () => `<title>Source of ${title} · svc</title>`)
    .replace(MAIN, () => main)
}
