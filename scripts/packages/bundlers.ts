// The bundlers that the proof builds a page with, each as its own documentation says and without settings for our packages.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runCommand } from '../../tools/programs/command.ts'
import type { Consumer } from './consumer.ts'
import { importMap } from './import-map.ts'

/** Longest that a bundler may take, in milliseconds. */
const BUILD_TIMEOUT_MS: number = 2 * 60_000

interface Bundler {
  name: string
  /** The packages that npm installs for it. */
  packages: readonly string[]
  /** The command that bundles; undefined: the browser loads the modules as they are. */
  command?: readonly string[]
  /** How the page names the script. */
  script: string
  /** The bundler reads the page itself, and writes its own. */
  takesPage?: boolean
  /** Fields of the package.json at the root of the project, beside the lockfile. */
  manifest?: object
}

const MODULE = '<script type="module" src="./main.js"></script>'
const NODE_RESOLVE = 'node-resolve={browser:true}'

export const BUNDLERS: readonly Bundler[] = [
  { name: 'vite', packages: ['vite@8.3.8'], command: ['vite', 'build'], script: MODULE, takesPage: true },
  {
    name: 'webpack',
    packages: ['webpack@5.112.2', 'webpack-cli@7.3.1'],
    command: ['webpack', '--mode=production', '--entry=./main.js', '--output-path=dist'],
    script: '<script defer src="./main.js"></script>',
  },
  {
    name: 'rollup',
    packages: ['rollup@4.68.7', '@rollup/plugin-node-resolve@16.0.3'],
    command: ['rollup', 'main.js', '--dir=dist', '--format=es', '--plugin', NODE_RESOLVE],
    script: MODULE,
  },
  {
    name: 'esbuild',
    packages: ['esbuild@0.28.2'],
    command: ['esbuild', 'main.js', '--bundle', '--splitting', '--format=esm', '--minify', '--outdir=dist'],
    script: MODULE,
  },
  {
    name: 'parcel',
    packages: ['parcel@2.16.4'],
    command: ['parcel', 'build', 'index.html', '--dist-dir=dist', '--no-cache', '--no-source-maps'],
    script: MODULE,
    takesPage: true,
    manifest: { '@parcel/resolver-default': { packageExports: true } },
  },
  { name: 'import map', packages: [], script: MODULE },
]

/**
 * Builds the page of the proof in a folder of its own.
 * @returns the directory to serve, and the path of the page in it
 * @throws Error with the bundler's output when it fails
 */
export async function buildPage(
  bundler: Bundler,
  consumer: Consumer,
): Promise<{ directory: string; page: string }> {
  const folder = bundler.name.replace(' ', '-')
  const project = path.join(consumer.directory, folder)
  mkdirSync(project)
  addFields(path.join(consumer.directory, 'package.json'), bundler.manifest ?? {})
  copyFileSync(path.join(import.meta.dirname, 'programs/main.js'), path.join(project, 'main.js'))
  if (bundler.command === undefined) {
    writePage(project, `${importMap(consumer.directory)}\n${bundler.script}`)
    return { directory: consumer.directory, page: `/${folder}/index.html` }
  }
  if (bundler.takesPage) writePage(project, bundler.script)
  const [command = '', ...args] = bundler.command
  const options = { timeoutMs: BUILD_TIMEOUT_MS, quiet: true, cwd: project }
  const { ok, output } = await runCommand([consumer.command(command), ...args], options)
  if (!ok) throw new Error(`${bundler.name} cannot build the page:\n${output}`)
  const dist = path.join(project, 'dist')
  if (!bundler.takesPage) writePage(dist, bundler.script)
  return { directory: dist, page: '/index.html' }
}

function addFields(file: string, fields: object): void {
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...fields }))
}

function writePage(directory: string, head: string): void {
  const page = `<!doctype html>\n<meta charset="utf-8">\n<title>…</title>\n${head}\n`
  writeFileSync(path.join(directory, 'index.html'), page)
}
