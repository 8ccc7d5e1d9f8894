// Turns off what the Chromium of tests does not need, and nothing on again that Playwright turns off.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { PLAYWRIGHT_FEATURES_OFF } from '../browser/chromium.ts'
import { root } from '../programs/command.ts'

test('the features that Playwright turns off stay off', () => {
  const bundle = readFileSync(path.join(root, 'node_modules/playwright-core/lib/coreBundle.js'), 'utf8')
  const [, list = ''] = /disabledFeatures = \[(.*?)\]\.filter/s.exec(bundle) ?? []
  const names = list.split('\n').flatMap((line) => /^ *"(\w+)",?$/.exec(line)?.[1] ?? [])
  expect(names).toEqual(PLAYWRIGHT_FEATURES_OFF)
})
