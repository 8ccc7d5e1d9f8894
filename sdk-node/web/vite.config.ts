// Builds the page of the agent to one HTML file, which `svc` has whatever form it is installed in.
import { defineConfig, type Plugin, type UserConfig } from 'vite'

const STYLE = /<link rel="stylesheet"[^>]* href="\/([^"]+)">/
const SCRIPT = /<script type="module"[^>]* src="\/([^"]+)"><\/script>/

/** Puts the script and the style into the page. The agent names their digests in its Content-Security-Policy. */
const oneFile: Plugin = {
  name: 'one-file',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html']
    if (page?.type !== 'asset') throw new Error('index.html is missing')
    let html = String(page.source)
    const take = (pattern: RegExp): string => {
      const name = pattern.exec(html)?.[1] ?? ''
      const file = bundle[name]
      if (file === undefined) throw new Error(`index.html names ${name}, which is not there`)
      delete bundle[name]
      return file.type === 'chunk' ? file.code : String(file.source)
    }
    const style = take(STYLE)
    // "</script" would end the element, and "<!--" change how its end is found (HTML, restrictions for script elements)
    const script = take(SCRIPT).replaceAll(/<(?=\/script|!--|script)/gi, '\\x3c')
    html = html
      .replace(STYLE, '')
      .replace(SCRIPT, '')
      .replace('</head>', () => `<style>${style}</style>\n  </head>`)
      .replace('</body>', () => `<script type="module">${script}</script>\n  </body>`)
    page.source = html
    const others = Object.keys(bundle).filter((name) => name !== 'index.html')
    if (others.length > 0) throw new Error(`the page is not one file: ${others.join(', ')}`)
  },
}

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: false }, checks: { bundlerTimings: false } },
  },
  plugins: [oneFile],
})

export default config
