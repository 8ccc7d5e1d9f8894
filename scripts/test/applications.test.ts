// The applications of `npm run interop -- applications` that start quickly and need no network, behind `svc expose`.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, test as every, expect } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { type APPLICATION_PACKAGES, findPackage } from '../../tools/programs/services.ts'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'
import { wholeOnly } from '../../tools/test-depth.ts'
import { APPLICATIONS } from '../applications/applications.ts'
import { serve } from '../applications/proof.ts'

const test = wholeOnly(every, 'variant')

const TEST_TIMEOUT_MS = 180_000

const IN_DEBIAN: [name: string, debian: (typeof APPLICATION_PACKAGES)[number]][] = [
  ['Apache', 'apache2-bin'],
  ['nginx', 'nginx'],
  ['PHP', 'php8.2-cli'],
  ['Docker registry', 'docker-registry'],
]

let relay: TestRelay
let folder: string
beforeAll(async () => {
  relay = await startTestRelay()
  folder = mkdtempSync(path.join(tmpdir(), 'svc-applications-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await relay.stop()
})

async function works(name: string, prepare: (at: string) => void = () => {}): Promise<void> {
  const application = APPLICATIONS.find((one) => one.name === name)
  const at = path.join(folder, name)
  mkdirSync(at)
  prepare(at)
  expect(application!.install(at)).toMatch(/^\d/)
  await serve(application!, at, relay)
}

test.for(IN_DEBIAN)('%s', { timeout: TEST_TIMEOUT_MS }, async ([name, debian], { skip }) => {
  skip(findPackage(debian) === undefined, `the Debian package ${debian} is missing`)
  await works(name)
})

test('Vite, as this repository has it', { timeout: TEST_TIMEOUT_MS }, async () => {
  await works('Vite', (at) => {
    mkdirSync(path.join(at, 'node_modules'))
    symlinkSync(path.join(root, 'node_modules/vite'), path.join(at, 'node_modules/vite'))
  })
})
