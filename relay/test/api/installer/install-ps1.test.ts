// The script for PowerShell, as a grammar of PowerShell that is not ours reads it. No registry that this repository installs
// from has PowerShell itself.

import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import { Language, type Node, Parser } from 'web-tree-sitter'
import { renderInstallPs1 } from '../../../src/features/installer/scripts.ts'

const ORIGIN = "https://it's.relay.example"
const SUMS = new Map([
  ['node', 'a'.repeat(64)],
  ['windows-amd64', 'b'.repeat(64)],
])
const parser = await createParser()

let script: string
beforeAll(async () => {
  script = await renderInstallPs1({ origin: ORIGIN, release: '1.2.3', sums: SUMS })
})

async function createParser(): Promise<Parser> {
  await Parser.init()
  const require = createRequire(import.meta.url)
  const file = require.resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')
  return new Parser().setLanguage(await Language.load(file))
}

function parse(text: string): Node {
  return parser.parse(text)!.rootNode
}

/** Where the grammar reads no PowerShell: lines and their texts. */
function errorsOf(text: string): string[] {
  return parse(text)
    .descendantsOfType('ERROR')
    .map(({ startPosition, text }) => `${startPosition.row + 1}: ${text}`)
}

test('it is PowerShell, with and without downloads', async () => {
  expect(errorsOf(script)).toEqual([])
  expect(parse(script).hasError).toBe(false)
  const empty = await renderInstallPs1({ origin: ORIGIN, release: '1.2.3', sums: new Map() })
  expect(parse(empty).hasError).toBe(false)
})

describe('a mistake would show:', () => {
  test.each([
    ['a brace that is missing', (text: string) => text.replace('try {', 'try')],
    ['a quote that is not doubled', (text: string) => text.replace("it''s", "it's")],
    ['a parenthesis too many', (text: string) => text.replace('param(', 'param((')],
  ])('%s', (_name, change) => {
    expect(parse(change(script)).hasError).toBe(true)
  })
})

test('it begins with its parameters, defines functions, and calls one on its last line', () => {
  const [parameters, ...functions] = script.match(/^(?:param|function [\w-]+)/gm) ?? []
  expect(parameters).toBe('param')
  expect(functions.length).toBeGreaterThan(10)
  const last = script.trimEnd().split('\n').at(-1)
  expect(last).toMatch(/^Install-Svc /)
  // Every line at the outermost level before the last one only assigns or defines.
  const outermost = script
    .trimEnd()
    .split('\n')
    .filter((line) => /^[^\s#}]/.test(line))
  expect(outermost.slice(0, -1).filter((line) => !/^(?:param\(|function |\$\w+ = )/.test(line))).toEqual([])
})

test('it calls no function that neither it nor Windows PowerShell 5.1 has', () => {
  const own = new Set([...script.matchAll(/^function ([\w-]+)/gm)].map(([, name]) => name))
  const called = parse(script)
    .descendantsOfType('command_name')
    .map(({ text }) => text)
    .filter((name) => /^[A-Z]\w*-[A-Z]\w*$/.test(name) && !own.has(name))
  expect([...new Set(called)].toSorted()).toEqual([
    'ForEach-Object',
    'Get-ChildItem',
    'Get-Command',
    'Get-FileHash',
    'Get-Item',
    'Join-Path',
    'Move-Item',
    'New-Item',
    'New-Object',
    'Out-Null',
    'Remove-Item',
    'Select-Object',
    'Set-Content',
    'Set-ItemProperty',
    'Split-Path',
    'Start-Sleep',
    'Test-Path',
    'Where-Object',
    'Write-Host',
  ])
})
