// The syntax tree (ESTree) of a file in TypeScript or JavaScript, as far as the linter looks into it.
import { parseSync } from 'vite'

export interface Node {
  type: string
  start: number
  [field: string]: unknown
}

export interface Comment {
  type: 'Line' | 'Block'
  /** The text without its delimiters. */
  value: string
  end: number
}

/** @throws Error when `text` is not what the name of its file says */
export function parse(file: string, text: string): Node {
  return read(file, text).program as unknown as Node
}

/** The statements of a file, and its comments in the order of the text. @throws Error as {@link parse} does */
export function parseWithComments(file: string, text: string): { body: Node[]; comments: Comment[] } {
  const { program, comments } = read(file, text)
  return { body: program.body as unknown as Node[], comments }
}

function read(file: string, text: string): ReturnType<typeof parseSync> {
  const result = parseSync(file, text)
  if (result.errors[0]) throw new Error(`${file}: ${result.errors[0].message}`)
  return result
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
