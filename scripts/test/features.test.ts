// A feature of the relay is its folder and its line in the list: without both, the relay compiles.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root, runCommand } from '../../tools/programs/command.ts'
import { wholeOnly } from '../../tools/test-depth.ts'

const TIMEOUT_MS = 120_000
/** Those that no other feature needs. */
const REMOVED = ['ens', 'go', 'installer', 'metrics', 'payment', 'redirect']

wholeOnly(test, 'variant')('the relay compiles without features that no other one needs', async () => {
  // Below the checkout, where the compiler finds packages.
  const copy = mkdtempSync(path.join(root, 'node_modules/.without-features-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  const features = path.join(copy, 'src/features')
  cpSync(path.join(root, 'relay/src'), path.join(copy, 'src'), { recursive: true })
  for (const name of REMOVED) rmSync(path.join(features, name), { recursive: true })
  const list = path.join(features, 'index.ts')
  const lines = readFileSync(list, 'utf8').split('\n')
  const isKept = (line: string): boolean =>
    !REMOVED.some((name) => line === `  ${name},` || line.endsWith(`from './${name}/index.ts'`))
  writeFileSync(list, lines.filter(isKept).join('\n'))
  const compilerOptions = { typeRoots: [path.join(root, 'node_modules/@types')] }
  const config = { extends: path.join(root, 'relay/tsconfig.json'), compilerOptions, include: ['src'] }
  writeFileSync(path.join(copy, 'tsconfig.json'), JSON.stringify(config))
  // Threads of one program would check the same types again.
  const command = ['tsc', '-p', copy, '--singleThreaded']
  const { ok, output } = await runCommand(command, { timeoutMs: TIMEOUT_MS, quiet: true })
  expect({ ok, output }).toEqual({ ok: true, output: '' })
})
