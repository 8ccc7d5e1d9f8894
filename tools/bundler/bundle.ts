// Bundles and minifies what a page downloads for a module, as the module's users would do it.
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'

export interface Weight {
  name: string
  /** The file is downloaded before the entry's code can run. */
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

/** The files that a browser loads before the one page of a project works: its HTML, what that names, and what this imports. */
export async function weighFirstLoad(configFile: string): Promise<Weight[]> {
  const result = await build({ configFile, logLevel: 'warn', build: { write: false } })
  const { output } = result as Rolldown.RolldownOutput
  const html = output.find((file) => file.fileName === 'index.html')
  if (html?.type !== 'asset') throw new Error(`${configFile} builds no index.html`)
  const page = String(html.source)
  const named = output.filter((file) => page.includes(`/${file.fileName}"`))
  const loaded = new Set<string>()
  const visit = (name: string): void => {
    if (loaded.has(name)) return
    loaded.add(name)
    const file = output.find((one) => one.fileName === name)
    if (file?.type === 'chunk') file.imports.forEach(visit)
  }
  for (const file of [html, ...named]) visit(file.fileName)
  return output
    .filter((file) => loaded.has(file.fileName))
    .map((file) => weightOf(file.fileName, file.type === 'chunk' ? file.code : file.source, true))
}

/** @returns sizes in bytes */
export function weigh(chunks: Rolldown.OutputChunk[]): Weight[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const eager = new Set<string>()
  const visit = (name: string): void => {
    if (eager.has(name)) return
    eager.add(name)
    byName.get(name)?.imports.forEach(visit)
  }
  for (const chunk of chunks) if (chunk.isEntry) visit(chunk.fileName)
  return chunks.map(({ fileName, code }) => weightOf(fileName, code, eager.has(fileName)))
}

function weightOf(name: string, content: string | Uint8Array, eager: boolean): Weight {
  return { name, eager, raw: Buffer.byteLength(content), gzip: gzipSync(content, { level: 9 }).length }
}
