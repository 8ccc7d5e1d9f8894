// Builds what installs `svc` and `svc-relay` on machines without this repository: `npm run binaries [-- --only SLUG[,SLUG…]]`.
// artifacts/install/bin has the bundle and the executables of svc, compressed; artifacts/relay has those of svc-relay.
import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { root } from '../tools/programs/command.ts'
import { bundleProgram, type ProgramName } from './binaries/bundle.ts'
import { buildExecutable } from './binaries/executable.ts'
import { PLATFORMS, SLUGS, type Slug } from './binaries/platforms.ts'

const INSTALL: string = path.join(root, 'artifacts/install/bin')
const RELAY: string = path.join(root, 'artifacts/relay')
/** Directory of files that are made on the way. */
const WORK: string = path.join(root, 'node_modules/.cache/binaries')
const EXECUTABLE_MODE = 0o755
const MEGABYTE = 1_000_000
const MS_PER_S = 1_000

const slugs = readArguments() ?? usage()
if (slugs.length === SLUGS.length)
  for (const directory of [INSTALL, RELAY]) rmSync(directory, { recursive: true, force: true })
for (const directory of [INSTALL, RELAY, WORK]) mkdirSync(directory, { recursive: true })

const svc = path.join(INSTALL, 'svc.mjs')
const relay = path.join(WORK, 'svc-relay.mjs')
await writeBundle('svc', svc)
await compress(svc)
await writeBundle('svc-relay', relay)
for (const slug of slugs) {
  const executable = path.join(WORK, `svc-${slug}`)
  await build('svc', slug, svc, executable)
  await compress(executable, path.join(INSTALL, `${slug}.gz`))
  rmSync(executable)
  await build('svc-relay', slug, relay, path.join(RELAY, `svc-relay-${slug}`))
}
writeFileSync(path.join(INSTALL, 'SHA256SUMS'), sums())

async function writeBundle(name: ProgramName, file: string): Promise<void> {
  writeFileSync(file, await bundleProgram(name), { mode: EXECUTABLE_MODE })
  report(file)
}

async function build(name: ProgramName, slug: Slug, bundle: string, output: string): Promise<void> {
  const begun = performance.now()
  const directory = path.join(WORK, `${name}-${slug}.parts`)
  const version = await buildExecutable({ name, slug, bundle, output, directory })
  rmSync(directory, { recursive: true })
  const seconds = ((performance.now() - begun) / MS_PER_S).toFixed(1)
  const isNearest = version !== process.versions.node
  const { nodePackage } = PLATFORMS[slug]
  const reason = isNearest ? `: the registry has no ${nodePackage} ${process.versions.node}` : ''
  report(output, `, ${seconds} s, Node ${version}${reason}`)
}

async function compress(file: string, output: string = `${file}.gz`): Promise<void> {
  await pipeline(createReadStream(file), createGzip(), createWriteStream(output))
  report(output)
}

/** @returns lines as `sha256sum` writes and checks them */
function sums(): string {
  const lines = globSync('*.gz', { cwd: INSTALL })
    .toSorted()
    .map((name) => {
      const digest = createHash('sha256')
        .update(readFileSync(path.join(INSTALL, name)))
        .digest('hex')
      return `${digest}  ${name}\n`
    })
  return lines.join('')
}

function report(file: string, more = ''): void {
  console.log(`${path.relative(root, file)}: ${(statSync(file).size / MEGABYTE).toFixed(1)} MB${more}`)
}

function readArguments(): Slug[] | undefined {
  try {
    const { only } = parseArgs({ options: { only: { type: 'string' } } }).values
    if (only === undefined) return SLUGS
    const wanted = only.split(',')
    const found = SLUGS.filter((slug) => wanted.includes(slug))
    return found.length === wanted.length ? found : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error('Usage: npm run binaries [-- --only SLUG[,SLUG…]]')
  console.error(`SLUG is one of ${SLUGS.join(', ')}`)
  process.exit(2)
}
