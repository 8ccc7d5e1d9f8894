// A slice of the fuzzing against `ws` in every run; `npm run fuzz -- websocket SECONDS` goes on from there.

import { expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { frame } from './client.ts'
import { check, fuzz, hear, hearWs } from './fuzz.ts'

const FUZZ_RUNS: number = atDepth(10_000, 1_000)

test('the two receivers hear what is plainly there, so that their agreement means something', async () => {
  const bytes = Buffer.concat([
    frame(1, 'Hel', { fin: false }),
    frame(9, 'p'),
    frame(0, 'lo'),
    frame(2, Uint8Array.of(1, 2)),
    frame(3),
  ])
  const expected = ['ping 70', 'text Hello', 'binary 0102', 'error 1002']
  expect(hear([bytes])).toEqual(expected)
  expect(await hearWs(bytes)).toEqual(expected)
  await check({ bytes, cuts: [1, 5, 20] })
})

test('what is received is what ws receives, wherever the bytes are cut', async () => {
  const { runs } = await fuzz((runs) => runs < FUZZ_RUNS, TEST_SEED)
  expect(runs).toBeGreaterThanOrEqual(FUZZ_RUNS)
})
