// The values of constants, as far as the text of the files tells: literals, templates, sums and products of such.
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Node, parse, walk } from './syntax-tree.ts'

/** The declarations of a file, and the origin of each name that it imports. */
interface Scope {
  values: Map<string, Node>
  imports: Map<string, { name: string; from: string }>
}

export class Constants {
  readonly #root: string
  readonly #scopes = new Map<string, Scope>()

  /** @param root of the repository */
  constructor(root: string) {
    this.#root = root
  }

  /** @returns undefined for what is not constant, or is not understood here */
  valueOf(node: Node, file: string): unknown {
    const inner = (field: unknown): unknown => this.valueOf(field as Node, file)
    switch (node.type) {
      case 'Literal':
        return node.value
      case 'TemplateLiteral':
        return joined(node, 'cooked', inner)
      case 'TaggedTemplateExpression':
        return isStringRaw(node.tag as Node) ? joined(node.quasi as Node, 'raw', inner) : undefined
      case 'BinaryExpression':
        return combined(node.operator as string, inner(node.left), inner(node.right))
      case 'Identifier':
        return this.#named(node.name as string, file)
      default:
        return undefined
    }
  }

  #named(name: string, file: string): unknown {
    const { values, imports } = this.#scopeOf(file)
    const own = values.get(name)
    if (own !== undefined) return this.valueOf(own, file)
    const imported = imports.get(name)
    if (imported === undefined) return undefined
    const source = this.#filesOf(imported.from, file).find((one) =>
      this.#scopeOf(one).values.has(imported.name),
    )
    return source && this.#named(imported.name, source)
  }

  /** Where a constant that is imported from there may be declared: a package of ours hands on what its files export. */
  #filesOf(from: string, file: string): string[] {
    if (from.startsWith('.')) return [path.resolve(path.dirname(file), from)].filter((one) => existsSync(one))
    const [, name] = from.match(/^@svc\/([\w-]+)$/) ?? []
    if (name === undefined) return []
    return globSync(`${name}/src/*.ts`, { cwd: this.#root }).map((one) => path.join(this.#root, one))
  }

  #scopeOf(file: string): Scope {
    const scope = this.#scopes.get(file) ?? read(file)
    this.#scopes.set(file, scope)
    return scope
  }
}

function read(file: string): Scope {
  const scope: Scope = { values: new Map(), imports: new Map() }
  walk(parse(file, readFileSync(file, 'utf8')), (node) => {
    if (node.type === 'VariableDeclaration' && node.kind === 'const')
      for (const { id, init } of node.declarations as { id: Node; init: Node | null }[])
        if (id.type === 'Identifier' && init !== null) declare(scope, id.name as string, init)
    if (node.type !== 'ImportDeclaration') return
    const from = (node.source as Node).value as string
    for (const one of node.specifiers as { local: Node; imported?: Node }[])
      if (one.imported)
        scope.imports.set(one.local.name as string, { name: one.imported.name as string, from })
  })
  return scope
}

/** Of a name that two functions of a file declare, nothing is known. */
function declare({ values }: Scope, name: string, init: Node): void {
  values.set(name, values.has(name) ? { type: 'Ambiguous', start: init.start } : init)
}

function joined(node: Node, form: 'cooked' | 'raw', evaluate: (node: Node) => unknown): string | undefined {
  const quasis = node.quasis as { value: { cooked: string; raw: string } }[]
  const values = (node.expressions as Node[]).map(evaluate)
  if (values.some((value) => typeof value !== 'string' && typeof value !== 'number')) return undefined
  return quasis.map(({ value }, index) => `${value[form]}${values[index] ?? ''}`).join('')
}

function isStringRaw({ object, property }: Node): boolean {
  return (object as Node | undefined)?.name === 'String' && (property as Node | undefined)?.name === 'raw'
}

function combined(operator: string, left: unknown, right: unknown): unknown {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') return left + right
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  if (operator === '+') return left + right
  return operator === '*' ? left * right : undefined
}
