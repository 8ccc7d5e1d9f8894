// The option `rules` of `publish`: wrong rules are refused before anything is asked of a relay.

import { expect, it, vi } from 'vitest'
import type { Platform } from '../../src/platform.ts'
import { publishOn } from '../../src/publish.ts'
import type { TrafficRules } from '../../src/rules/options.ts'
import type { PublishOptions } from '../../src/site/options.ts'

/** Fails when anything is asked of it: the options are checked first. */
const platform: Platform = {
  fetch: () => Promise.reject(new Error('no request is expected')),
  loadIdentity: () => Promise.reject(new Error('no identity is expected')),
}

function publishWith(rules: unknown, more: Partial<PublishOptions> = {}): Promise<unknown> {
  const given = { relay: 'https://relay.example', fetch: () => new Response(), ...more }
  return publishOn(platform, { ...given, rules: rules as TrafficRules })
}

it.each<[unknown, Partial<PublishOptions>, string]>([
  ['maintenance', {}, 'rules must be an object of rules'],
  [{ redirect: [] }, {}, 'rules.redirect is not known'],
  [
    { cors: { origins: ['*'], credentials: true } },
    {},
    'rules.cors.credentials needs origins that are named',
  ],
  [{ maintenance: true }, { cache: { files: {} } }, 'rules and cache exclude each other'],
  [{ maintenance: true }, { cache: { files: {} }, discover: 1 }, 'rules and cache exclude each other'],
])('%j with %j is refused', async (rules, more, message) => {
  await expect(publishWith(rules, more)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  })
})

it('a site whose code cannot be loaded is not published', async () => {
  vi.doMock('../../src/rules/index.ts', () => {
    throw new TypeError('import() is not allowed here')
  })
  await expect(publishWith({ maintenance: true })).rejects.toThrow()
  vi.doUnmock('../../src/rules/index.ts')
})
