// Fuzz target `files`: paths, ranges and conditions for the `files` handler over a folder on disk, with links in it that lead
// anywhere. Whatever is asked, what comes is a public file, a part of it, a listing without hidden names, or a refusal.

import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { files } from '@svc/sdk-core/handlers'
import { fields, methods, paths } from '../../../relay/test/fuzz/file-requests.ts'
import { isFile, makeFolder, wrongWith } from '../../../relay/test/fuzz/public-folder.ts'
import fc from '../../../tools/fast-check.ts'
import { openFolder } from '../../src/index.ts'

/** Requests tried at a time. */
const ROUND_RUNS = 200
const ANSWER_MAX_MS = 2000
const STATUSES: ReadonlySet<number> = new Set([200, 206, 301, 304, 404, 405, 412, 416])
/** Name → where it leads: out of the folder, to what is hidden in it, in a circle, and to a public file. */
const LINKS: Record<string, string> = {
  'out.txt': '../outside.txt',
  beside: '../site-beside',
  up: '..',
  'env.txt': '.env',
  git: '.git',
  circle: 'circle',
  'good.txt': 'folder/a name.txt',
}
const BEHIND_LINKS = [
  'out.txt',
  'beside/x.txt',
  'up/outside.txt',
  'env.txt',
  'git/config',
  'git/',
  'circle',
  'good.txt',
]
const ORIGIN = 'https://site.example'

interface Asked {
  method: string
  path: string
  fields: [string, string][]
  hasListing: boolean
}

/** @throws Error with the request, on the first that gets what it must not */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  const root = await mkdtemp(join(tmpdir(), 'svc-fuzz-files-'))
  const folder = await makeFolder(root)
  for (const [name, target] of Object.entries(LINKS)) await symlink(target, join(folder, name))
  const handle = await openFolder(folder)
  const handlers = { true: files(handle, { listing: true, index: false }), false: files(handle) }
  const request = fc.record({
    method: methods,
    path: fc.oneof(
      { weight: 4, arbitrary: paths },
      fc.constantFrom(...BEHIND_LINKS).map((name) => `/${name}`),
    ),
    fields: fc.array(fields, { maxLength: 3 }),
    hasListing: fc.boolean(),
  })
  let runs = 0
  const check = async (asked: Asked): Promise<void> => {
    runs += 1
    const { method, path, hasListing } = asked
    const from = performance.now()
    const visitor = new Request(`${ORIGIN}${path}`, { method, headers: asked.fields })
    const answer = await handlers[`${hasListing}`](visitor, undefined as never)
    const body = Buffer.from(await answer.arrayBuffer())
    const wrong =
      performance.now() - from > ANSWER_MAX_MS ? 'an answer that took too long' : judge(answer, body, asked)
    if (wrong !== undefined) throw new Error(`${wrong}: ${answer.status} ${body} to ${JSON.stringify(asked)}`)
  }
  try {
    for (let round = 0; goesOn(runs); round++)
      await fc.assert(fc.asyncProperty(request, check), { numRuns: ROUND_RUNS, seed: (seed + round) | 0 })
  } finally {
    await rm(root, { recursive: true })
  }
  return { runs }
}

/** @returns what is wrong, if anything is */
function judge(
  { status, headers }: Response,
  body: Buffer,
  { method, hasListing }: Asked,
): string | undefined {
  if (!STATUSES.has(status)) return 'a status that no file has'
  const [length, range] = [headers.get('content-length'), headers.get('content-range')]
  // the server sends no content to HEAD, whatever a handler gives it
  const wrong = wrongWith({
    method: 'GET',
    status,
    body,
    content: body,
    length: method === 'HEAD' ? null : length,
    range,
  })
  if (wrong !== undefined) return wrong
  const location = headers.get('location')
  if (location !== null && new URL(location, `${ORIGIN}/a/b`).origin !== ORIGIN)
    return 'a way to another site'
  if (status !== 200 || method === 'HEAD' || isFile(body)) return undefined
  const isListing = hasListing && headers.get('content-type') === 'text/html; charset=utf-8'
  if (!isListing) return 'no public file'
  return /href="\.\/(?:\.|git|env|out|beside|up)/.test(`${body}`) ? 'a listing of what is hidden' : undefined
}
