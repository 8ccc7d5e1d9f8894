// Compiles the published packages to `dist`: ES modules, declarations, and source maps with the sources inside. One
// program of the compiler emits them all; that their types are right is for `npm test`, which checks each with its own settings.
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { replaceDirectory, temporaryDirectory } from '../../tools/bundler/output-directory.ts'
import { digestOf } from '../../tools/bundler/source-digest.ts'
import { root, runCommand } from '../../tools/programs/command.ts'
import { PUBLISHED } from './published.ts'

/** Longest that the compiler may take, in milliseconds. */
const COMPILE_TIMEOUT_MS: number = 2 * 60_000
/** Holds the digest of the sources of a `dist`. */
const STAMP = '.built-from'
const SOURCES = [
  `{${PUBLISHED.join(',')}}/{package.json,src/**}`,
  'tsconfig.base.json',
  'scripts/packages/compile.ts',
  'package-lock.json',
]

/** A relative import or augmentation in a declaration: the compiler changes the endings in code alone. */
const RELATIVE_IMPORT = /(from |import\(|declare module )(['"])(\.{1,2}\/[^'"\n]*)\.ts\2/g

/**
 * Compiles every published package into its `dist`, unless that is up to date.
 * @returns whether it compiled
 * @throws Error with the compiler's output when it fails
 */
export async function compilePackages(): Promise<boolean> {
  const digest = digestOf(SOURCES)
  if (PUBLISHED.every((folder) => stampOf(folder) === digest)) return false
  const temporary = temporaryDirectory('svc-build-')
  try {
    await compile(temporary)
    for (const folder of PUBLISHED) {
      const built = path.join(temporary, 'out', folder, 'src')
      finish(built, folder)
      writeFileSync(path.join(built, STAMP), digest)
      replaceDirectory(path.join(root, folder, 'dist'), built, path.join(temporary, `old-${folder}`))
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  return true
}

function stampOf(folder: string): string | undefined {
  try {
    return readFileSync(path.join(root, folder, 'dist', STAMP), 'utf8')
  } catch {
    return undefined
  }
}

async function compile(temporary: string): Promise<void> {
  const config = path.join(temporary, 'tsconfig.json')
  const settings = {
    extends: path.join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      // A package.json is read at run time, where it is, and is not part of the output.
      resolveJsonModule: false,
      sourceMap: true,
      inlineSources: true,
      lib: ['ES2024', 'WebWorker'],
      types: ['node'],
      rootDir: root,
      outDir: path.join(temporary, 'out'),
    },
    include: PUBLISHED.map((folder) => path.join(root, folder, 'src')),
    exclude: [],
  }
  writeFileSync(config, JSON.stringify(settings))
  const tsc = path.join(root, 'node_modules/.bin/tsc')
  const { ok, output } = await runCommand([tsc, '-p', config], { timeoutMs: COMPILE_TIMEOUT_MS, quiet: true })
  if (!ok) throw new Error(`The packages cannot be compiled:\n${output}`)
}

/** Gives declarations and source maps the form that they have beside the package's `src`, and adds what the compiler does not emit. */
function finish(built: string, folder: string): void {
  const source = path.join(root, folder, 'src')
  for (const file of globSync('**/*.{d.ts,sh,ps1}', { cwd: source })) {
    mkdirSync(path.dirname(path.join(built, file)), { recursive: true })
    copyFileSync(path.join(source, file), path.join(built, file))
  }
  for (const file of globSync('**/*.d.ts', { cwd: built }))
    rewrite(path.join(built, file), (text) => text.replace(RELATIVE_IMPORT, '$1$2$3.js$2'))
  for (const file of globSync('**/*.js.map', { cwd: built })) {
    const up = path.relative(path.dirname(path.join(folder, 'dist', file)), path.join(folder, 'src'))
    const sources = [path.posix.join(up.replaceAll(path.sep, '/'), file.replace(/\.js\.map$/, '.ts'))]
    rewrite(path.join(built, file), (text) => JSON.stringify({ ...JSON.parse(text), sources }))
  }
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}
