// Proves the Debian packages and the image in Debian systems: a row of `npm run interop`.
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Cell, Row } from '../../tls/test/interop/matrix.ts'
import { root } from '../../tools/programs/command.ts'
import { runImage } from './image-steps.ts'
import { boot } from './machine.ts'
import { nextRelease } from './next-release.ts'
import { PACKAGE_STEPS, type Packages } from './package-steps.ts'
import { run } from './run.ts'
import { INSTALL, systemProblem, unpackSystem } from './system.ts'

export type DebianRow = Row<string>

export const NAME = 'debian'
const IMAGE_STEP = 'the image serves'
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64'
const DIRECTORY = path.join(root, 'artifacts/deb')

/** Runs every step; those after a failed one cannot be done. */
export async function runDebian(onRow: (row: DebianRow) => void): Promise<DebianRow> {
  const problem =
    systemProblem() ?? (findPackage('svc-relay') ? undefined : 'npm run deb has made no packages')
  const row: DebianRow = { client: NAME, version: undefined, install: INSTALL, cells: {} }
  if (problem === undefined) await prove(row)
  else row.install = `${problem}; it needs ${INSTALL}`
  onRow(row)
  return row
}

async function prove(row: DebianRow): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-debian-'))
  try {
    const relay = findPackage('svc-relay')!
    const packages = { relay, nextRelay: await nextRelease(relay, directory), svc: findPackage('svc')! }
    row.version = await provePackages(row, path.join(directory, 'system'), packages)
    row.cells[IMAGE_STEP] = await cell(async () => {
      const image = path.join(directory, 'image')
      await unpackSystem(image)
      await runImage(image, relay)
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** @returns the version of Debian */
async function provePackages(row: DebianRow, directory: string, packages: Packages): Promise<string> {
  await unpackSystem(directory)
  const machine = await boot(directory)
  try {
    let reason: string | undefined
    for (const [name, step] of Object.entries(PACKAGE_STEPS)) {
      const done: Cell =
        reason === undefined
          ? await cell(() => step({ machine, directory, packages }))
          : { status: 'cannot', reason }
      row.cells[name] = done
      if (done.status !== 'failed') continue
      reason = `the step "${name}" failed`
      done.error += `\n${await machine.sh('journalctl --no-pager --lines=40 --unit=svc-relay --unit=site').catch(String)}`
    }
    return (await run(['cat', path.join(directory, 'etc/debian_version')])).trim()
  } finally {
    await machine.end()
  }
}

async function cell(prove: () => Promise<void>): Promise<Cell> {
  try {
    await prove()
    return { status: 'passed' }
  } catch (error) {
    return { status: 'failed', error: (error as Error).message }
  }
}

/** @returns the newest package of that name for this machine */
function findPackage(name: string): string | undefined {
  const files = existsSync(DIRECTORY) ? readdirSync(DIRECTORY).sort() : []
  const found = files.findLast((file) => file.startsWith(`${name}_`) && file.endsWith(`_${ARCHITECTURE}.deb`))
  return found === undefined ? undefined : path.join(DIRECTORY, found)
}
