// The rows of the interop matrix whose clients a test run has or installs; `npm run interop` runs all.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeOnly } from '../../tools/test-depth.ts'
import { CELL_TIMEOUT_MS, runCell } from './interop/cell.ts'
import type { Client, Runner } from './interop/client.ts'
import { chromium } from './interop/clients/chromium.ts'
import { curl } from './interop/clients/curl.ts'
import { gnutls } from './interop/clients/gnutls.ts'
import { node } from './interop/clients/node.ts'
import { openssl } from './interop/clients/openssl.ts'
import { COLUMNS } from './interop/columns.ts'
import { makeCredentials } from './interop/credentials.ts'
import { failures, type Row, runMatrix } from './interop/matrix.ts'
import { asMarkdown, asText } from './interop/print.ts'
import { refragment } from './interop/proxy.ts'
import { hex } from './support/hex.ts'

/** For a cell to say itself that it took too long, in milliseconds. */
const SPARE_MS = 5_000

const directory = mkdtempSync(join(tmpdir(), 'tls-interop-'))
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
const credentials = await makeCredentials(directory)

/** Chromium visits sites end to end, and Node's own client is within the process in node-client.test.ts and tls12/clients.test.ts. */
const AT_NIGHT: readonly Client[] = [gnutls, chromium, node]

for (const client of [openssl, curl, ...AT_NIGHT]) {
  const group = AT_NIGHT.includes(client) ? wholeOnly(describe, 'variant') : describe
  const found = await client.find()
  if (found === undefined) {
    test.skip(`${client.name} is not there: ${client.install}`)
    continue
  }
  group(`${client.name} ${found.version}`, () => {
    let runner: Runner
    beforeAll(async () => {
      runner = await found.prepare({
        directory: mkdtempSync(join(directory, `${client.name}-`)),
        credentials,
      })
    })
    afterAll(() => runner.stop?.())
    for (const column of COLUMNS.filter(({ name }) => found.cannot[name] === undefined))
      test(`${column.name}: ${column.title}`, { timeout: CELL_TIMEOUT_MS + SPARE_MS }, () =>
        runCell(runner, column, credentials),
      )
  })
}

describe('the matrix itself', () => {
  const broken: Client = {
    name: 'broken',
    install: 'nothing to install',
    find: async () => ({
      version: '1',
      cannot: { AES128: 'because' },
      prepare: async () => ({
        exchange: () => ({
          outcome: Promise.resolve({ sha256: '', log: 'its last words' }),
          leave: () => {},
        }),
      }),
    }),
  }
  const absent: Client = { name: 'absent', install: 'apt-get install it', find: async () => undefined }

  test('shows what failed, what cannot be and what was skipped', async () => {
    const seen: Row[] = []
    const rows = await runMatrix([broken, absent], (row) => void seen.push(row))
    expect(seen).toHaveLength(2)
    expect(failures(rows)).toHaveLength(COLUMNS.length - 1)
    expect(failures(rows)[0]).toBe('broken, AES256: no request came: nobody connected\nits last words')
    for (const print of [asText, asMarkdown]) {
      expect(print(rows)).toMatch(/broken *\|? –1 *\|? ✗/)
      expect(print(rows)).toContain('–1: because')
      expect(print(rows)).toContain('Skipped: absent, which is not there (apt-get install it)')
    }
  })

  test('§5.1 the proxy cuts the ClientHello into records, and nothing after it', async () => {
    async function* pieces(...chunks: string[]) {
      for (const chunk of chunks) yield Buffer.from(hex(chunk))
    }
    const hello = '1603010009 01000005 0102030405'
    const later = '1403030001 01'
    const sent: string[] = []
    for await (const chunk of refragment(pieces(hello.slice(0, 8), `${hello.slice(8)}${later}`, later)))
      sent.push(chunk.toString('hex'))
    expect(sent).toEqual(['160301000701000005010203', '16030100020405', '140303000101', '140303000101'])
  })
})
