// The messages that docs/guide/troubleshooting.md explains are those of the programs.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'

const PAGE = readFileSync(path.join(root, 'docs/guide/troubleshooting.md'), 'utf8')
/** What browsers say, which an end-to-end test has seen. */
const OF_BROWSERS = /^ERR_/

test('each message in the first column is in the source, as it is written there', () => {
  const sources = globSync('{sdk-core,sdk-node,relay}/src/**/*.ts', { cwd: root })
  const tests = globSync('e2e/*.spec.ts', { cwd: root })
  const textOf = (files: string[]): string =>
    files.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n')
  const [text, seen] = [textOf(sources), textOf(tests)]
  const messages = [...PAGE.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message),
  )
  expect(messages.length).toBeGreaterThan(20)
  expect(messages.filter((message) => !(OF_BROWSERS.test(message) ? seen : text).includes(message))).toEqual(
    [],
  )
})
