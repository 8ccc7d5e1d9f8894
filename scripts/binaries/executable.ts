// Builds one single executable: Node's own --build-sea puts a bundle and its assets into a copy of Node's binary.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { V8_FLAGS as RELAY_V8_FLAGS } from '../../relay/src/core/config/v8-flags.ts'
import { V8_FLAGS as SVC_V8_FLAGS } from '../../sdk-node/src/cli/v8-flags.ts'
import { collectAssets } from './assets.ts'
import { baseBinary, generatorOf } from './base-binaries.ts'
import type { ProgramName } from './bundle.ts'
import { signMachO } from './mach-o/sign.ts'
import { PLATFORMS, type Slug } from './platforms.ts'
import { stripSignature } from './portable-executable.ts'

const EXECUTABLE_MODE = 0o755
const V8_FLAGS: Record<ProgramName, readonly string[]> = {
  svc: SVC_V8_FLAGS,
  'svc-relay': RELAY_V8_FLAGS,
}

export interface Executable {
  name: ProgramName
  slug: Slug
  /** Path of the bundle. */
  bundle: string
  /** Path of the result. */
  output: string
  /** Directory for files that are made on the way. */
  directory: string
}

/**
 * @returns the version of Node in the executable
 * @throws Error with Node's output when it cannot be built
 */
export async function buildExecutable({
  name,
  slug,
  bundle,
  output,
  directory,
}: Executable): Promise<string> {
  const base = baseBinary(slug, process.versions.node)
  mkdirSync(directory, { recursive: true })
  mkdirSync(path.dirname(output), { recursive: true })
  const temporary = path.join(directory, 'executable')
  const config = path.join(directory, 'sea-config.json')
  const settings = {
    main: bundle,
    mainFormat: 'module',
    executable: unsigned(base.file, slug, directory),
    output: temporary,
    disableExperimentalSEAWarning: true,
    execArgv: V8_FLAGS[name],
    assets: await collectAssets(name, PLATFORMS[slug], bundle, directory),
  }
  writeFileSync(config, JSON.stringify(settings, undefined, 2))
  const generator = generatorOf(base.version)
  const { status, stdout, stderr, error } = spawnSync(generator, ['--build-sea', config], {
    encoding: 'utf8',
  })
  if (status !== 0)
    throw new Error(`node --build-sea failed for ${slug}:\n${stdout}${stderr}${error?.message ?? ''}`)
  if (slug.startsWith('darwin-')) writeFileSync(temporary, signMachO(readFileSync(temporary), name))
  chmodSync(temporary, EXECUTABLE_MODE)
  renameSync(temporary, output)
  return base.version
}

/** @returns the path of Node's binary without a signature that the blob would make wrong */
function unsigned(file: string, slug: Slug, directory: string): string {
  if (!slug.startsWith('windows-')) return file
  const stripped = path.join(directory, 'node.exe')
  writeFileSync(stripped, stripSignature(readFileSync(file)))
  return stripped
}
