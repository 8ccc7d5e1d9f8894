// The precedence of versions, with the examples of Semantic Versioning 2.0.0, section 11.

import { describe, expect, test } from 'vitest'
import { compareVersions, isVersion } from '../src/release-versions.ts'

/** Each is older than the next. */
const ORDERED = [
  '0.0.0-0',
  '0.0.0',
  '0.9.0',
  '0.10.0',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '2.0.0',
  '2.1.0',
  '2.1.1',
]

describe('compareVersions', () => {
  test('orders as section 11 does', () => {
    for (const [index, one] of ORDERED.entries())
      for (const [place, other] of ORDERED.entries())
        expect(Math.sign(compareVersions(one, other)!), `${one} ${other}`).toBe(Math.sign(index - place))
  })

  test('leaves build metadata out', () => expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0))

  test.each(['', '1', '1.0', 'v1.0.0', '01.0.0', '1.0.0-', '1.0.0.0', '1.0.0 ', '1e9.0.0', '9'.repeat(400)])(
    '%s is no version',
    (text) => {
      expect(isVersion(text)).toBe(false)
      expect(compareVersions(text, '1.0.0')).toBeUndefined()
      expect(compareVersions('1.0.0', text)).toBeUndefined()
    },
  )
})
