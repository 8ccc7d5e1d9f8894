// Builds the page of the agent: its HTML, its script and style, and parts that load when they are opened. The names stay, because an executable of `svc` has these files in itself.
import { defineConfig, type Plugin, type UserConfig } from 'vite'

/** The same as PAGE_FILES (sdk-node/src/installation.ts). */
const FILES = [
  'index.css',
  'index.html',
  'index.js',
  'requests-page.css',
  'requests-page.js',
  'shares-dialog.js',
  'tunnel-form.js',
]

const fixedFiles: Plugin = {
  name: 'fixed-files',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const built = Object.keys(bundle).sort().join(', ')
    if (built !== FILES.join(', ')) throw new Error(`the page is ${built}`)
  },
}

const NAME = '[name].[ext]'

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: false,
    rolldownOptions: {
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', assetFileNames: NAME },
      checks: { bundlerTimings: false },
    },
  },
  plugins: [fixedFiles],
})

export default config
