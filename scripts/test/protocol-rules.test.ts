// The linter of docs/protocol.md finds each rule without a test, and each test of a rule that is not there.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { findRuleFaults } from '../lint/protocol-rules.ts'

const root = mkdtempSync(path.join(tmpdir(), 'svc-rules-'))
afterAll(() => rmSync(root, { recursive: true }))

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
  writeFileSync(path.join(root, file), text)
}

beforeEach(() => {
  write('docs/protocol.md', '| **1.1.1** | a |\n| **1.1.2** | b, as §1.1.3 says |\n- **1.1.10** c\n')
  write('relay/test/a.test.ts', "test('one (protocol §1.1.1, §1.1.2)', () => {})\n")
  write('e2e/b.spec.ts', 'test("another (protocol §1.1.10)", () => {})\n')
})

test('rules that titles name are in order', () => {
  expect(findRuleFaults(root)).toEqual([])
})

test.each([
  ["// test('one (protocol §1.1.1, §1.1.2)')\n", 'a comment'],
  ["test('one (RFC 9113 §1.1.1, §1.1.2)', () => {})\n", 'the section of an RFC'],
  ["test('one (protocol §1.1.11)', () => {})\n", 'a longer number'],
])('%j names no rule: it is %s', (text) => {
  write('relay/test/a.test.ts', text)
  expect(findRuleFaults(root)).toEqual(
    expect.arrayContaining([
      'docs/protocol.md: no test names §1.1.1',
      'docs/protocol.md: no test names §1.1.2',
    ]),
  )
})

test('a rule that is not there, or there twice, is told', () => {
  write('docs/protocol.md', '| **1.1.1** | a |\n| **1.1.1** | b |\n- **1.1.10** c\n')
  expect(findRuleFaults(root)).toEqual([
    'docs/protocol.md: §1.1.1 is there twice',
    'relay/test/a.test.ts: there is no §1.1.2',
  ])
})
