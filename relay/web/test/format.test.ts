// Numbers and times as people read them.
import { expect, test } from 'vitest'
import { formatAgo, formatBytes } from '../src/common/format.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [25_400, '25 kB'],
  [999_700, '1.0 MB'],
  [1.5e12, '1.5 TB'],
  [2e18, '2000 PB'],
])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

test.each([
  [-400, 'now'],
  [-5_000, '5 sec. ago'],
  [-61_000, '1 min. ago'],
  [-7_200_000, '2 hr. ago'],
  [-3 * 86_400_000, '3 days ago'],
  [90_000, 'in 2 min.'],
])('%d ms from now is %s', (ms, text) => {
  const now = Date.parse('2026-01-10T00:00:00Z')
  expect(formatAgo(new Date(now + ms).toISOString(), now)).toBe(text)
})
