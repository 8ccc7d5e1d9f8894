// Lists the exports of our packages with their docstrings, from the syntax trees of entries, re-exports and declarations.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Comment, type Node, parseWithComments } from './syntax-tree.ts'

export interface PublicExport {
  name: string
  /** Where it is declared, from the root of the repository. */
  file: string
  /** The declaration: `FunctionDeclaration`, `TSInterfaceDeclaration` and so on. */
  declaration: Node
  /** The text between `/**` and its end; undefined where there is none. */
  docstring: string | undefined
}

interface SourceFile {
  body: Node[]
  docstringOf: (node: Node) => string | undefined
}

/** Build-time entries for frameworks: they export one function each, to a file that a framework reads. */
const ADAPTERS = /\/adapters\//

export class PublicExports {
  readonly #root: string
  readonly #files = new Map<string, SourceFile>()

  /** @param root of the repository */
  constructor(root: string) {
    this.#root = root
  }

  /** @returns what each entry of the package's `exports` exports, without what other packages of ours declare */
  ofPackage(folder: string): PublicExport[] {
    const { exports } = JSON.parse(readFileSync(path.join(this.#root, folder, 'package.json'), 'utf8'))
    const entries = Object.values(exports as Record<string, string>).filter(
      (entry) => entry.endsWith('.ts') && !ADAPTERS.test(entry),
    )
    const found = entries.flatMap((entry) => this.#exportsOf(path.join(folder, entry)))
    return [...new Map(found.map((one) => [`${one.file} ${one.name}`, one])).values()]
  }

  /** @throws Error when the file declares no such name */
  declarationOf(file: string, name: string): PublicExport {
    const found = this.#exportsOf(file).find((one) => one.name === name)
    if (!found) throw new Error(`${file} does not export ${name}`)
    return found
  }

  /** @returns the members of an interface, a class or an object type by name, each with its docstring */
  membersOf({ file, declaration }: PublicExport): Map<string, string | undefined> {
    const { docstringOf } = this.#read(file)
    const members = membersIn(declaration).filter(isPublicMember)
    return new Map(members.map((member) => [nameOf(member.key as Node), docstringOf(member)]))
  }

  #exportsOf(file: string): PublicExport[] {
    return this.#read(file).body.flatMap((node) => this.#exportsBy(node, file))
  }

  #exportsBy(node: Node, file: string): PublicExport[] {
    if (node.type === 'ExportAllDeclaration') return this.#exportedAll(node, file)
    if (node.type !== 'ExportNamedDeclaration') return []
    if (node.declaration) return this.#declared(node, node.declaration as Node, file)
    return (node.specifiers as { local: Node; exported: Node }[]).flatMap(({ local, exported }) => {
      const found = node.source
        ? this.#imported(nameOf(local), node.source as Node, file)
        : this.#local(nameOf(local), file)
      return found ? [{ ...found, name: nameOf(exported) }] : []
    })
  }

  /** `export * from` hands the exports on; `export * as name from` is one export. */
  #exportedAll(node: Node, file: string): PublicExport[] {
    if (node.exported) {
      const docstring = this.#read(file).docstringOf(node)
      return [{ name: nameOf(node.exported as Node), file, declaration: node, docstring }]
    }
    const target = this.#resolve(node.source as Node, file)
    return target === undefined ? [] : this.#exportsOf(target)
  }

  #declared(node: Node, declaration: Node, file: string): PublicExport[] {
    const docstring = this.#read(file).docstringOf(node)
    return namesOf(declaration).map((name) => ({ name, file, declaration, docstring }))
  }

  #imported(name: string, source: Node, file: string): PublicExport | undefined {
    const target = this.#resolve(source, file)
    return target === undefined ? undefined : this.#exportsOf(target).find((one) => one.name === name)
  }

  /** Declared in the file, or imported into it. */
  #local(name: string, file: string): PublicExport | undefined {
    const { body } = this.#read(file)
    for (const node of body) {
      if (namesOf(node).includes(name))
        return this.#declared(node, node, file).find((one) => one.name === name)
      if (node.type !== 'ImportDeclaration') continue
      const specifiers = node.specifiers as { local: Node; imported?: Node }[]
      const found = specifiers.find(({ local }) => nameOf(local) === name)
      if (found?.imported) return this.#imported(nameOf(found.imported), node.source as Node, file)
    }
    return undefined
  }

  /** @returns undefined for another package, which documents its own */
  #resolve(source: Node, file: string): string | undefined {
    const from = source.value as string
    return from.startsWith('.') ? path.join(path.dirname(file), from) : undefined
  }

  #read(file: string): SourceFile {
    const known = this.#files.get(file)
    if (known) return known
    const text = readFileSync(path.join(this.#root, file), 'utf8')
    const { body, comments } = parseWithComments(file, text)
    const read = { body, docstringOf: (node: Node) => docstringBefore(node.start, text, comments) }
    this.#files.set(file, read)
    return read
  }
}

function docstringBefore(start: number, text: string, comments: Comment[]): string | undefined {
  const comment = comments.findLast(({ end }) => end <= start)
  if (comment?.type !== 'Block' || !comment.value.startsWith('*')) return undefined
  return text.slice(comment.end, start).trim() === '' ? comment.value.slice(1) : undefined
}

function namesOf(declaration: Node): string[] {
  if (declaration.type === 'VariableDeclaration')
    return (declaration.declarations as { id: Node }[]).map(({ id }) => nameOf(id))
  return declaration.id && declaration.type.endsWith('Declaration') ? [nameOf(declaration.id as Node)] : []
}

function nameOf(node: Node): string {
  return String(node.name ?? node.value)
}

function membersIn(declaration: Node): Node[] {
  const { type, body, typeAnnotation } = declaration
  if (type === 'TSInterfaceDeclaration' || type === 'ClassDeclaration') return (body as { body: Node[] }).body
  return ((typeAnnotation as { members?: Node[] } | undefined)?.members ?? []) as Node[]
}

function isPublicMember({ key, accessibility }: Node): boolean {
  const type = (key as Node | undefined)?.type
  return key !== undefined && type !== 'PrivateIdentifier' && accessibility !== 'private'
}
