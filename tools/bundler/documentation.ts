// Builds the site of the documentation: into the relay's package, which serves it at `/docs`, or as files for another server.
import path from 'node:path'
import { root, runCommand } from '../programs/command.ts'
import { compress } from './compress.ts'
import { buildDirectory, isBuiltFrom } from './output-directory.ts'
import { digestOf } from './source-digest.ts'

/** The directory in which the relay looks (relay/src/core/installation.ts). */
const DOCUMENTATION_DIR: string = path.join(root, 'relay/documentation')
const REFERENCE_DIR: string = path.join(root, 'node_modules/.cache/api-reference')
/** Where a relay has it. */
const BASE = '/docs'
/** The texts, and what makes a site of them. */
const SOURCES = [
  '{SECURITY,CONTRIBUTING,CHANGELOG}.md',
  'docs/*.md',
  'docs/{guide,operate,internals,decisions}/*.md',
  'docs/pictures/*.svg',
  'docs/site/{*.mjs,package.json,src/**}',
  'docs/reference/entries.ts',
  'relay/web/{public/favicon.svg,src/style/*.css}',
  'tools/bundler/{documentation,compress,output-directory}.ts',
]
/** What the API reference is made of. */
const REFERENCE_SOURCES = [
  'docs/reference/*.{ts,json}',
  '{protocol,yamux,tls,payment,dns,node-kit,sdk-core,sdk-browser,sdk-node,relay}/{package.json,src/**}',
]
/** Milliseconds for each of the two programs, on a machine that is busy. */
const BUILD_TIMEOUT_MS: number = 5 * 60_000

export interface DocumentationOptions {
  /** The directory for the site. */
  directory?: string
  /** Its path on its host; at another than a relay's, nothing links to pages of a relay. */
  base?: string
  /** The origin of its host, for the addresses in its pages that need one; undefined where only the host knows it. */
  origin?: string | undefined
  /**
   * Whether it has the API reference, which takes as long as all else. Without, a site that has one is not built again.
   * @default true
   */
  hasReference?: boolean
  /** Called when the site has to be built. */
  onBuild?: () => void
}

/**
 * Builds the site, unless the one in the directory was built from the same sources.
 * @returns the directory
 * @throws Error with the output of what failed, which names each link that leads nowhere
 */
export async function buildDocumentation({
  directory = DOCUMENTATION_DIR,
  base = BASE,
  origin,
  hasReference = true,
  onBuild,
}: DocumentationOptions = {}): Promise<string> {
  const site = `${digestOf(SOURCES)} ${origin ?? ''}${base}\n`
  const whole = `${site}${digestOf(REFERENCE_SOURCES)}`
  if (isBuiltFrom(directory, whole) || (!hasReference && isBuiltFrom(directory, site))) return directory
  await buildDirectory(directory, hasReference ? whole : site, async (built) => {
    onBuild?.()
    const reference = hasReference ? { DOCS_REFERENCE: await makeReference() } : {}
    const relay = base === BASE && origin === undefined ? { DOCS_OF_RELAY: 'yes' } : {}
    const host = origin === undefined ? {} : { DOCS_SITE: origin }
    await astro({ ...reference, ...relay, ...host, DOCS_BASE: base, DOCS_OUT: built })
    compress(built, '**/*.{html,js,css,svg,md,txt}', { hasGzip: false })
  })
  return directory
}

/** @returns the directory of its Markdown */
async function makeReference(): Promise<string> {
  const packages = path.join(root, 'docs/reference')
  await buildDirectory(REFERENCE_DIR, digestOf(REFERENCE_SOURCES), (built) =>
    run('The API reference', [path.join(packages, 'make.ts'), built], packages, {}),
  )
  return REFERENCE_DIR
}

async function astro(env: Record<string, string>): Promise<void> {
  const program = path.join(root, 'node_modules/astro/bin/astro.mjs')
  await run('The documentation', [program, 'build'], path.join(root, 'docs/site'), {
    ASTRO_TELEMETRY_DISABLED: '1',
    ...env,
  })
}

async function run(what: string, args: string[], cwd: string, env: Record<string, string>): Promise<void> {
  const options = { timeoutMs: BUILD_TIMEOUT_MS, quiet: true, cwd, env }
  const { ok, output } = await runCommand([process.execPath, ...args], options)
  if (!ok) throw new Error(`${what} cannot be built:\n${output}`)
}
