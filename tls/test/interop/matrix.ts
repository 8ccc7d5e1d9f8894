// Runs rows of the matrix: each client that is there through each column that it can do.

import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCell } from './cell.ts'
import type { Client } from './client.ts'
import type { ColumnName } from './column-name.ts'
import { COLUMNS } from './columns.ts'
import { type Credentials, makeCredentials } from './credentials.ts'

export type Cell =
  | { status: 'passed' }
  | { status: 'failed'; error: string }
  /** The client has no way to do it. */
  | { status: 'cannot'; reason: string }

export interface Row<Name extends string = ColumnName> {
  client: string
  /** Undefined when it is not there: the row was skipped. */
  version: string | undefined
  /** How to get it. */
  install: string
  cells: Partial<Record<Name, Cell>>
}

/** They wait for processes more than they work. */
const ROWS_AT_A_TIME = 2

export async function runMatrix(clients: readonly Client[], onRow: (row: Row) => void): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const credentials = await makeCredentials(directory)
    const rows: Row[] = []
    const waiting = [...clients.entries()]
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, client] = next
        const row = await inTemporaryDirectory((own) => runRow(client, own, credentials))
        rows[index] = row
        onRow(row)
      }
    }
    await Promise.all(Array.from({ length: ROWS_AT_A_TIME }, worker))
    return rows
  })
}

async function runRow(client: Client, directory: string, credentials: Credentials): Promise<Row> {
  const row: Row = { client: client.name, version: undefined, install: client.install, cells: {} }
  const found = await client.find()
  if (found === undefined) return row
  row.version = found.version
  const runner = await found.prepare({ directory, credentials })
  for (const column of COLUMNS) {
    const reason = found.cannot[column.name]
    row.cells[column.name] =
      reason === undefined
        ? await runCell(runner, column, credentials).then(
            () => ({ status: 'passed' }),
            (error: Error) => ({ status: 'failed', error: error.message }),
          )
        : { status: 'cannot', reason }
  }
  await runner.stop?.()
  return row
}

async function inTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'tls-interop-'))
  const atExit = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', atExit)
  try {
    return await work(directory)
  } finally {
    process.off('exit', atExit)
    // A browser that was just ended may still write to its profile.
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

export function failures(rows: readonly Row<string>[]): string[] {
  return rows.flatMap(({ client, cells }) =>
    Object.entries(cells).flatMap(([name, cell]) =>
      cell?.status === 'failed' ? [`${client}, ${name}: ${cell.error}`] : [],
    ),
  )
}
