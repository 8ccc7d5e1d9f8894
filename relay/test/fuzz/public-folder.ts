// A folder with files that are public and files that are not, and what may be said of an answer that came from it. For
// every handler that serves files.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** In every file that nobody may see, and nowhere else. */
const SECRET = 'this-is-not-for-the-public'
/** Name → content. */
const PUBLIC: Record<string, string> = {
  'index.html': '<p>the first page</p>',
  'sites.html': '<p>a page with a name of its own</p>',
  'folder/index.html': '<p>the page of a folder</p>',
  'folder/a name.txt': 'a name with a blank',
  'folder/50%.txt': 'a name with a percent sign',
  'assets/app-01234567.js': 'console.log(1)\n'.repeat(100),
  'empty.txt': '',
  'ä.txt': 'a name beyond ASCII',
}
/** Lies beside its file, and may be asked for by itself. */
const COMPRESSED = 'assets/app-01234567.js'
const HIDDEN = ['.env', '.git/config', 'folder/.htpasswd', 'assets/.map.js', '..data/x']
/** Beside the folder. */
const OUTSIDE = ['outside.txt', 'site-beside/x.txt']

export const PUBLIC_NAMES: readonly string[] = Object.keys(PUBLIC)
export const SECRET_NAMES: readonly string[] = [...HIDDEN, ...OUTSIDE.map((name) => `../${name}`)]

const CONTENTS: readonly Buffer[] = [
  ...Object.values(PUBLIC).map((content) => Buffer.from(content)),
  gzipSync(PUBLIC[COMPRESSED]!),
]

/** @returns the folder that is served, within `root` */
export async function makeFolder(root: string): Promise<string> {
  const folder = join(root, 'site')
  for (const name of ['folder', 'assets', '.git', '..data', '../site-beside'])
    await mkdir(join(folder, name), { recursive: true })
  for (const [name, content] of Object.entries(PUBLIC)) await writeFile(join(folder, name), content)
  await writeFile(join(folder, `${COMPRESSED}.gz`), gzipSync(PUBLIC[COMPRESSED]!))
  for (const name of SECRET_NAMES) await writeFile(join(folder, name), SECRET)
  return folder
}

export interface Served {
  method: string
  status: number
  body: Buffer
  /** Of the answer, without a coding of its content. */
  content: Buffer
  length: string | null | undefined
  range: string | null | undefined
}

/** @returns what is wrong with an answer, if anything is */
export function wrongWith({ method, status, body, content, length, range }: Served): string | undefined {
  if (body.includes(SECRET) || content.includes(SECRET)) return 'a file that is not public'
  if (method === 'HEAD') return body.length > 0 ? 'content for HEAD' : undefined
  if (length && Number(length) !== body.length) return 'a length that is another one'
  if (status === 206 && !isPart(body, range)) return 'no part of a public file'
  return undefined
}

export function isFile(content: Buffer): boolean {
  return CONTENTS.some((one) => one.equals(content))
}

/** The bytes that Content-Range tells, of a file with the length that it tells (RFC 9110 §14.4). */
function isPart(body: Buffer, contentRange: string | null | undefined): boolean {
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange ?? '') ?? []
  const length = Number(end) + 1 - Number(start)
  return CONTENTS.some(
    (one) =>
      one.length === Number(size) &&
      body.length === length &&
      one.subarray(Number(start), Number(end) + 1).equals(body),
  )
}
