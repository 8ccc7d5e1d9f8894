// The compliance suite over links in memory: plain, in single bytes, in odd pieces, slow, and nearly always saturated.

import { atDepth } from '../../tools/test-depth.ts'
import { compliance } from './support/compliance.ts'
import { pair } from './support/pair.ts'

compliance('memory', () => pair(), {
  sequential: atDepth(10_000, 2_000),
  bulkBytes: 4_000_000,
  properties: 50,
})
compliance('single bytes', () => pair({ splitBytes: 1 }), {
  sequential: 200,
  bulkBytes: 400_000,
  properties: 5,
})
compliance('odd pieces', () => pair({ splitBytes: 1021 }), {
  sequential: 200,
  bulkBytes: 1_000_000,
  properties: 20,
})
compliance('a delay', () => pair({ delayMs: 2 }), { sequential: 50, bulkBytes: 1_000_000, properties: 10 })
compliance('a saturated transport', () => pair({ highWaterBytes: 1 }), {
  sequential: 200,
  bulkBytes: 1_000_000,
  properties: 20,
})
