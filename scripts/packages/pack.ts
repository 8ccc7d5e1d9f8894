// Packs each published package as npm would publish it: a staged copy of what its tarball has, with its package.json derived.
import { copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildAgentPage } from '../../tools/bundler/agent-page.ts'
import { buildDocumentation } from '../../tools/bundler/documentation.ts'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { root, runCommand } from '../../tools/programs/command.ts'
import { npmCommand } from '../../tools/programs/npm.ts'
import { compilePackages } from './compile.ts'
import { type Manifest, PUBLISHED, type PublishedFolder, readManifest } from './published.ts'
import { publishedManifest } from './published-manifest.ts'

/** Longest that npm may take for all packages, in milliseconds. */
const PACK_TIMEOUT_MS: number = 2 * 60_000

const TARBALLS_DIR: string = path.join(root, 'artifacts/npm')

export interface Tarball {
  folder: PublishedFolder
  /** The name of the package. */
  name: string
  /** The path of the tarball. */
  file: string
}

/**
 * Builds what the packages consist of, and packs them into `directory`. Tarballs that were there before are gone.
 * @throws Error with the output of what failed; the directory is then as before
 */
export async function packPackages(directory: string = TARBALLS_DIR): Promise<Tarball[]> {
  await Promise.all([compilePackages(), buildRelayPages(), buildAgentPage(), buildDocumentation()])
  const staging = mkdtempSync(path.join(tmpdir(), 'svc-pack-'))
  try {
    const manifests = stageAll(staging)
    await npmPack(staging)
    return keep(staging, directory, manifests)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

type Manifests = Record<PublishedFolder, Manifest>

function stageAll(staging: string): Manifests {
  const entries = PUBLISHED.map((folder) => [folder, readManifest(folder)] as const)
  const versions = Object.fromEntries(entries.map(([, { name, version }]) => [name, version]))
  const { repository } = readManifest('.')
  for (const [folder, manifest] of entries) {
    const published = publishedManifest(manifest, { versions, repository, folder })
    stage(folder, published, path.join(staging, folder))
  }
  return Object.fromEntries(entries) as Manifests
}

function stage(folder: string, manifest: Manifest, to: string): void {
  // What a build notes for itself begins with a dot.
  for (const name of manifest.files ?? [])
    cpSync(path.join(root, folder, name), path.join(to, name), {
      recursive: true,
      filter: (source) => !path.basename(source).startsWith('.'),
    })
  writeFileSync(path.join(to, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  copyFileSync(path.join(root, folder, 'README.md'), path.join(to, 'README.md'))
  copyFileSync(path.join(root, 'LICENSE'), path.join(to, 'LICENSE'))
}

async function npmPack(staging: string): Promise<void> {
  const folders = PUBLISHED.map((folder) => `./${folder}`)
  const command = npmCommand('pack', '--loglevel=error', '--ignore-scripts', ...folders)
  const { ok, output } = await runCommand(command, {
    timeoutMs: PACK_TIMEOUT_MS,
    quiet: true,
    cwd: staging,
  })
  if (!ok) throw new Error(`npm cannot pack the packages:\n${output}`)
}

function keep(staging: string, directory: string, manifests: Manifests): Tarball[] {
  mkdirSync(directory, { recursive: true })
  for (const old of globSync('svc-*.tgz', { cwd: directory })) rmSync(path.join(directory, old))
  return PUBLISHED.map((folder) => {
    const { name, version } = manifests[folder]
    // npm names a tarball after its package so.
    const tarball = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    const file = path.join(directory, tarball)
    copyFileSync(path.join(staging, tarball), file)
    return { folder, name, file }
  })
}
