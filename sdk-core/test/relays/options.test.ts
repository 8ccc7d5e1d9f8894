// The options of `publish` for several relays: what is refused says which option and why.

import { expect, test } from 'vitest'
import { DISCOVER_MAX } from '../../src/relays/limits.ts'
import { parseRelaysOptions } from '../../src/relays/options.ts'
import { type PublishOptions, parseOptions } from '../../src/site/options.ts'

const good: PublishOptions = { relay: 'https://relay.example', name: 'demo', fetch: () => new Response() }

test('name relays once, the first one first, and discover none unless they say so', () => {
  const relays = ['https://other.example', 'https://relay.example/x', new URL('https://third.example')]
  const parsed = parseRelaysOptions(parseOptions(good), { ...good, relays, discover: 8 })
  expect(parsed.relays.map(({ host }) => host)).toEqual(['relay.example', 'other.example', 'third.example'])
  const { discover } = parseRelaysOptions(parseOptions(good), good)
  expect([parsed.discover, discover]).toEqual([DISCOVER_MAX, 0])
})

test.each([
  ['a plain http relay among others', { relays: ['http://other.example'] }, /must be an https: URL/],
  ['half a relay', { discover: 1.5 }, /^discover must be a whole number from 0 to 8$/],
  ['less than no relay', { discover: -1 }, /discover/],
  ['too many relays', { discover: DISCOVER_MAX + 1 }, /from 0 to 8/],
] satisfies [string, Partial<PublishOptions>, RegExp][])('refuses %s', (_, change, message) => {
  expect(() => parseRelaysOptions(parseOptions(good), { ...good, ...change })).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) }),
  )
})
