// docs/guide/publish.md has a row for everything that the types of `publish` have, and docs/guide/node.md for those of `expose`: a new
// option, event or state fails here first.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type PublicExport, PublicExports } from '../lint/public-exports.ts'
import { type Node, walk } from '../lint/syntax-tree.ts'

const root = path.resolve(import.meta.dirname, '../..')
const [page, ofNode] = ['publish', 'node'].map((name) =>
  readFileSync(path.join(root, `docs/guide/${name}.md`), 'utf8'),
) as [string, string]
const exports = new PublicExports(root)

test.each(['PublishOptions', 'TlsOptions', 'NodeOptions', 'UpgradeOptions', 'Site', 'SiteEventMap'])(
  'each member of %s has a row',
  (type) => expectRows(membersOf(type)),
)

test('each member of SiteMetadata has a row', () => {
  expectRows(membersOf('LeaseMetadata').filter((name) => name !== 'hide'))
})

test('each member of FetchInfo has a row', () => expectRows(membersOf('FetchInfo')))

test('each figure of stats() has a row', () => {
  const whole = ['CarrierStats', 'Traffic', 'SiteStats'].flatMap(membersOf)
  const connections = membersOf('ConnectionStats').map((name) => `connections.${name}`)
  expectRows([...whole.filter((name) => name !== 'connections'), ...connections])
})

test.each(['SiteState', 'WaitingReason'])('each value of %s has a row', (type) =>
  expectRows(literalsOf(type)),
)

test('each type of debug event has a row', () => {
  expectRows(['CarrierDebugEvent', 'DebugEvent'].flatMap((type) => literalsOf(type, 'type')))
})

test('each member of ExposeOptions has a row, and each row is one', () => {
  const names = membersOf('ExposeOptions').filter((name) => name !== 'identity')
  expectRows(names, ofNode)
  const rows = [...ofNode.matchAll(/^\| `(\w+)` \| `/gm)].map(([, name]) => name)
  expect(rows.toSorted()).toEqual(names.toSorted())
})

function expectRows(names: string[], text = page): void {
  expect(names).not.toEqual([])
  expect(names.filter((name) => !hasRow(name, text))).toEqual([])
}

/** A row begins with the name as code, of a method with its parameters. */
function hasRow(name: string, text: string): boolean {
  return [`\n| \`${name}\` |`, `\n| \`${name}(`].some((begin) => text.includes(begin))
}

function membersOf(type: string): string[] {
  return [...exports.membersOf(typeOf(type)).keys()]
}

/** The literal types within a declaration; with `field`, those of the fields of that name only. */
function literalsOf(type: string, field?: string): string[] {
  const found: string[] = []
  const collect = (node: Node): void => {
    if (node.type === 'TSLiteralType') found.push(String((node.literal as Node).value))
  }
  walk(typeOf(type).declaration, (node) => {
    if (field === undefined) collect(node)
    else if (node.type === 'TSPropertySignature' && (node.key as Node).name === field) walk(node, collect)
  })
  return found
}

/** The declaration of a type, which may be one that no package exports but that exported ones are made of. */
function typeOf(name: string): PublicExport {
  const declares = new RegExp(`^export (?:interface|type) ${name}\\b`, 'm')
  const file = globSync('{sdk-core,sdk-node,protocol}/src/**/*.ts', { cwd: root }).find((one) =>
    declares.test(readFileSync(path.join(root, one), 'utf8')),
  )
  if (file === undefined) throw new Error(`no file declares ${name}`)
  return exports.declarationOf(file, name)
}
