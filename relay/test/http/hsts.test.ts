// Which hosts browsers are told to visit by https alone (RFC 6797).

import { expect, test } from 'vitest'
import { hstsOf } from '../../src/core/http/hsts.ts'

test('public hosts, for themselves alone, and no name below localhost', () => {
  expect(hstsOf('relay.example')).toBe('max-age=31536000')
  expect(hstsOf('notlocalhost')).toBe('max-age=31536000')
  for (const host of ['localhost', 'relay.localhost', 'demo.relay.localhost'])
    expect(hstsOf(host)).toBeUndefined()
})
