// What a page downloads for a module: bundled and minified as its users would do it.
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'

export interface Weight {
  name: string
  /** Downloaded before the entry's code can run. */
  eager: boolean
  raw: number
  gzip: number
}

export async function bundle(entry: string): Promise<Rolldown.OutputChunk[]> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    build: { write: false, minify: true, modulePreload: false, rolldownOptions: { input: entry } },
  })
  return (result as Rolldown.RolldownOutput).output.filter((file) => file.type === 'chunk')
}

/** Sizes in bytes. */
export function weigh(chunks: Rolldown.OutputChunk[]): Weight[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const eager = new Set<string>()
  const visit = (name: string): void => {
    if (eager.has(name)) return
    eager.add(name)
    byName.get(name)?.imports.forEach(visit)
  }
  for (const chunk of chunks) if (chunk.isEntry) visit(chunk.fileName)
  return chunks.map(({ fileName, code }) => ({
    name: fileName,
    eager: eager.has(fileName),
    raw: Buffer.byteLength(code),
    gzip: gzipSync(code, { level: 9 }).length,
  }))
}
