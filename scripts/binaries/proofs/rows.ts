// Proofs of the built executables, a row for each platform: `npm run interop -- executables`.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { failures, type Row } from '../../../tls/test/interop/matrix.ts'
import { summaryOf } from '../../../tls/test/interop/print.ts'
import { root } from '../../../tools/programs/command.ts'
import { SLUGS, type Slug } from '../platforms.ts'
import { proveOnLinux, proveUnderQemu } from './linux.ts'
import { proveSignature } from './macos.ts'
import { Impossible, type Proof } from './proof.ts'
import { provePortableExecutable } from './windows.ts'

const PROOFS: Record<Slug, Proof> = {
  'linux-amd64': proveOnLinux,
  'linux-arm64': proveUnderQemu,
  'darwin-amd64': proveSignature,
  'darwin-arm64': proveSignature,
  'windows-amd64': provePortableExecutable,
  'windows-arm64': provePortableExecutable,
}

/** @returns whether there was an executable, and none that failed */
export async function proveExecutables(): Promise<boolean> {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-executables-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  // Programs are ended when this process exits: a signal must be an exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const rows: Row<string>[] = []
  for (const slug of SLUGS) {
    const row = await prove(slug, directory)
    rows.push(row)
    console.log(summaryOf(row))
    for (const [name, cell] of Object.entries(row.cells))
      if (cell?.status === 'cannot') console.log(`  ${name}: ${cell.reason}`)
  }
  const failed = failures(rows)
  for (const failure of failed) console.error(`\n✗ ${failure}`)
  return failed.length === 0 && rows.some(({ version }) => version !== undefined)
}

async function prove(slug: Slug, directory: string): Promise<Row<string>> {
  const svc = path.join(root, 'artifacts/install/bin', `${slug}.gz`)
  const relay = path.join(root, 'artifacts/relay', `svc-relay-${slug}`)
  const { install, prepare } = PROOFS[slug]
  const row: Row<string> = { client: slug, version: undefined, install, cells: {} }
  if (!existsSync(svc) || !existsSync(relay)) return { ...row, install: `npm run binaries -- --only ${slug}` }
  const found = await prepare({ svc, relay, directory })
  if (found === undefined) return row
  row.version = found.version
  for (const [name, proof] of Object.entries(found.proofs))
    row.cells[name] = await proof().then(
      () => ({ status: 'passed' }),
      (error: Error) =>
        error instanceof Impossible
          ? { status: 'cannot', reason: error.message }
          : { status: 'failed', error: error.message },
    )
  return row
}
