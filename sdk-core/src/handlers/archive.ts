// A folder with all below it as a ZIP archive.

import type { RemoteAddress } from '../exchange/fetch-handler.ts'
import { Room } from '../webhooks/room.ts'
import { disposition } from './file-response.ts'
import type { FileTree } from './file-tree.ts'
import type { TreeFile } from './files-below.ts'
import { isHidden } from './hidden-files.ts'
import { lineOrPage } from './line-or-page.ts'
import { type ZipEntry, zip, zipSize } from './zip.ts'

/** The most files and folders of an archive, whose names are in memory. */
export const ARCHIVE_MAX = { files: 10_000, folders: 10_000 } as const
/** The most archives that a handler sends at once, and to one network: each keeps the names of its files in memory. */
const ARCHIVES_MAX = 16
export const ARCHIVES_SHARE = 4
/** Seconds after which a visitor may try again. */
const RETRY_S = 30

/** Names that lead out of a folder, and those that no file has. */
const LEADS_OUT = /^\.{0,2}$/
/** What has a meaning in names of some systems, is not printed, or turns the order of letters around. */
const NOT_EVERYWHERE = /[\p{Cc}\\/:*?"<>|\u202a-\u202e\u2066-\u2069]/gu

/** The query of an archive. */
export const ARCHIVE = '?zip'

/** What an archive is asked for, and of what. */
interface Asked {
  tree: FileTree
  segments: readonly string[]
  /** The name of the folder. */
  name: string
  hidden: boolean
  request: Request
  remote: RemoteAddress | undefined
}

/** Returns what counts the archives of a handler. */
export function archiveRoom(): Room {
  return new Room(ARCHIVES_MAX, ARCHIVES_SHARE)
}

export async function archive(
  { tree, segments, name, hidden, request, remote }: Asked,
  room: Room,
): Promise<Response> {
  const headers = new Headers({
    'Cache-Control': 'no-store',
    'Content-Disposition': disposition('attachment', `${everywhere(name)}.zip`),
    'Content-Type': 'application/zip',
    'X-Content-Type-Options': 'nosniff',
  })
  if (request.method === 'HEAD') return new Response(null, { headers })
  if (!room.take(remote, 1))
    return lineOrPage(
      request,
      503,
      'Others are downloading: try again in a minute, or take the files one by one',
      { 'Retry-After': `${RETRY_S}` },
      '',
    )
  const close = once(() => room.release(remote, 1))
  try {
    const found = await tree.below(segments, ARCHIVE_MAX)
    if (typeof found === 'string') {
      close()
      const text = `This is more than ${ARCHIVE_MAX[found]} ${found}: download a folder inside it`
      return lineOrPage(request, 403, text, {}, '')
    }
    const entries = entriesOf(found, everywhere(name), hidden)
    headers.set('Content-Length', String(zipSize(entries)))
    return new Response(streamOf(zip(entries), close), { headers })
  } catch (error) {
    close()
    throw error
  }
}

/** Names each file so that it stays below a folder of the archive's name on each system, and no two have the same. */
function entriesOf(files: readonly TreeFile[], name: string, hidden: boolean): ZipEntry[] {
  const taken = new Set<string>()
  return files.flatMap(([segments, file]) => {
    if (segments.some((segment) => LEADS_OUT.test(segment) || (!hidden && isHidden(segment)))) return []
    let path = [name, ...segments.map(everywhere)].join('/')
    while (taken.has(path)) path += '_'
    taken.add(path)
    return { path, file }
  })
}

function everywhere(name: string): string {
  return name.toWellFormed().replace(NOT_EVERYWHERE, '_')
}

/** @param close is called at the end of the stream, however it ends */
function streamOf(
  pieces: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  close: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (value) return controller.enqueue(value)
          if (done) controller.close()
          close()
        } catch (error) {
          close()
          throw error
        }
      },
      async cancel() {
        close()
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
