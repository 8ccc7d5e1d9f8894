// Fuzz target `pages`: paths, ranges, conditions and codings for the relay's static site. Whatever is asked, what comes is a
// file of the site, a part of it, or a plain refusal; never a hidden file, and never one from outside of the directory.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from '../../../tools/fast-check.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Answer, FuzzClient } from './client.ts'
import { fields, methods, paths } from './file-requests.ts'
import { isFile, makeFolder, wrongWith } from './public-folder.ts'

/** Requests tried at a time. */
const ROUND_RUNS = 100
/** What one answer may take, whatever was asked: files are small, and the machine may be busy with other things. */
const ANSWER_MAX_MS = 5000
const STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 400, 404, 405, 412, 416, 431])

interface Asked {
  method: string
  path: string
  fields: [string, string][]
}

/** @throws Error with the request, on the first that gets what it must not */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  const root = await mkdtemp(join(tmpdir(), 'svc-fuzz-pages-'))
  const relay = await startTestRelay({ SVC_SITE_DIR: await makeFolder(root) })
  const client = new FuzzClient(relay)
  const request = fc.record({ method: methods, path: paths, fields: fc.array(fields, { maxLength: 3 }) })
  let runs = 0
  const check = async (asked: Asked): Promise<void> => {
    runs += 1
    const from = performance.now()
    const answer = await client.ask({ ...asked, headers: Object.fromEntries(asked.fields) })
    const isSlow = performance.now() - from > ANSWER_MAX_MS
    const wrong = isSlow ? 'an answer that took too long' : judge(answer, asked)
    if (wrong !== undefined)
      throw new Error(
        `${wrong}: ${answer.status} ${JSON.stringify(answer.headers)} to ${JSON.stringify(asked)}`,
      )
  }
  try {
    for (let round = 0; goesOn(runs); round++)
      await fc.assert(fc.asyncProperty(request, check), { numRuns: ROUND_RUNS, seed: (seed + round) | 0 })
  } finally {
    client.close()
    await relay.close()
    await rm(root, { recursive: true })
  }
  return { runs }
}

/** @returns what is wrong, if anything is */
function judge({ status, headers, body }: Answer, { method }: Asked): string | undefined {
  if (!STATUSES.has(status)) return 'a status that no page has'
  const isCompressed = headers['content-encoding'] === 'gzip' && status === 200 && body.length > 0
  const content = isCompressed ? gunzipSync(body) : body
  const [length, range] = [headers['content-length'], headers['content-range']]
  const wrong = wrongWith({ method, status, body, content, length, range })
  if (wrong !== undefined) return wrong
  return status === 200 && method === 'GET' && !isFile(content) ? 'no file of the site' : undefined
}
