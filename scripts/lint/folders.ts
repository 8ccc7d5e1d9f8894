// Checks that folders import each other as scripts/lint/folder-table.ts says, and that no folders import in a cycle.
// Types count like values. `node scripts/lint/folders.ts` prints what breaks the table, one a line, and exits with 1 then.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { FOLDER_TABLE, type FolderTable } from './folder-table.ts'
import { parse, walk } from './syntax-tree.ts'

/** Folder, the folders that it imports, and for each one file that does. */
type Graph = Map<string, Map<string, string>>

/** @returns a line for each import, row and cycle in `directory` that breaks `table` */
export function findFolderFaults(directory: string, table: FolderTable = FOLDER_TABLE): string[] {
  return Object.entries(table).flatMap(([base, rows]) => {
    const graph = importGraph(directory, base)
    // Beside the top-level folders of the table lie packages, whose imports the linter checks by their names.
    const isWhole = base !== '.'
    const found = [...graph].filter(([folder]) => isWhole || folder in rows)
    return [
      ...found.flatMap(([folder, imports]) => faultsOfFolder(base, folder, imports, rows, isWhole)),
      ...Object.keys(rows)
        .filter((folder) => !graph.has(folder))
        .map((folder) => `${base}/${folder} is in the table and not in the tree`),
      ...cycles(new Map(found)).map((cycle) => `${base}: an import cycle, ${cycle.join(' → ')}`),
    ]
  })
}

function faultsOfFolder(
  base: string,
  folder: string,
  imports: ReadonlyMap<string, string>,
  rows: FolderTable[string],
  isWhole: boolean,
): string[] {
  const row = rows[folder]
  if (row === undefined) return [`${base}/${folder} is not in the table`]
  const forbidden = [...imports].filter(([to]) => !row.imports.includes(to) && (isWhole || to in rows))
  const unused = row.imports.filter((to) => !imports.has(to))
  return [
    ...forbidden.map(([to, file]) => `${file}: ${folder} may not import ${to}: ${row.why}`),
    ...unused.map((to) => `${base}/${folder} does not import ${to}: the table need not allow it`),
  ]
}

/** The folders of `base` and the files at its root, which each stand for themselves. */
function importGraph(directory: string, base: string): Graph {
  const graph: Graph = new Map()
  const files = globSync(`${base}/**/*.{ts,tsx,mjs}`, { cwd: directory, exclude: isForeign }).sort()
  for (const file of files) {
    const from = folderOf(base, file)
    const imports = graph.get(from) ?? new Map<string, string>()
    graph.set(from, imports)
    for (const source of relativeImports(file, readFileSync(path.join(directory, file), 'utf8'))) {
      const to = folderOf(base, path.join(path.dirname(file), source))
      if (to !== from && to !== '' && !imports.has(to)) imports.set(to, file)
    }
  }
  graph.delete('')
  return graph
}

function isForeign(file: string): boolean {
  return /(?:^|[/\\])(?:node_modules|dist|build|\.[^/\\]+)$/.test(file)
}

/** @returns the empty string for what is outside of `base` */
function folderOf(base: string, file: string): string {
  const relative = path.relative(base, file)
  return relative.startsWith('..') ? '' : relative.split(path.sep)[0]!
}

/** The relative imports of a file: values, types, and modules that it loads later. */
function relativeImports(file: string, text: string): string[] {
  const sources: string[] = []
  walk(parse(file, text), ({ source }) => {
    const value = (source as { value?: unknown } | null | undefined)?.value
    if (typeof value === 'string' && value.startsWith('.')) sources.push(value)
  })
  return sources
}

/** Each cycle once, from where it was met first. */
function cycles(graph: Graph): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (folder: string, way: string[]): void => {
    const start = way.indexOf(folder)
    if (start >= 0) found.push([...way.slice(start), folder])
    if (start >= 0 || done.has(folder)) return
    for (const to of graph.get(folder)?.keys() ?? []) visit(to, [...way, folder])
    done.add(folder)
  }
  for (const folder of graph.keys()) visit(folder, [])
  return found
}

if (import.meta.main) {
  const faults = findFolderFaults(path.join(import.meta.dirname, '../..'))
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}
