// Builds every example (a folder with an index.html) as a page below /examples/, and their index at / too.
import { copyFileSync, globSync } from 'node:fs'
import path from 'node:path'
import { defineConfig, type UserConfig } from 'vite'

const root: string = import.meta.dirname
const pages: string[] = globSync(['index.html', '*/index.html'], { cwd: root, exclude: ['dist'] }).map(
  (file) => path.join(root, file),
)

const config: UserConfig = defineConfig({
  root,
  base: '/examples/',
  build: {
    // The relay serves dist: what it finds in dist/examples is at /examples/.
    outDir: 'dist/examples',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: pages },
  },
  plugins: [
    {
      name: 'index-at-the-root',
      writeBundle: ({ dir = '' }) =>
        copyFileSync(path.join(dir, 'index.html'), path.join(dir, '..', 'index.html')),
    },
  ],
})

export default config
