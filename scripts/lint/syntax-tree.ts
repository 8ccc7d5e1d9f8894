// The syntax tree (ESTree) of a file in TypeScript or JavaScript, as far as the linter looks into it.
import { parseSync } from 'vite'

export interface Node {
  type: string
  start: number
  [field: string]: unknown
}

/** @throws when `text` is not what the name of its file says */
export function parse(file: string, text: string): Node {
  const { program, errors } = parseSync(file, text)
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`)
  return program as unknown as Node
}

/** Visits `node` and all within it, in the order of the text. */
export function walk(node: unknown, visit: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (isNode(node)) visit(node)
  for (const inner of Object.values(node)) walk(inner, visit)
}

function isNode(value: object): value is Node {
  return 'type' in value && typeof value.type === 'string'
}
