// Chooses what `npm test` runs: what is left to the night is skipped there, under any condition.
import { expect, test } from 'vitest'
import { atDepth, wholeOnly } from '../test-depth.ts'

interface Test {
  (): string
  skip: Test
  skipIf(condition: boolean): Test
  runIf(condition: boolean): Test
}

/** As Vitest makes them: its conditions know nothing of `skip`. */
function fakeTest(): Test {
  const conditions = { skipIf: () => ran, runIf: () => ran }
  const ran: Test = Object.assign(() => 'ran', conditions, { skip: undefined as never })
  ran.skip = Object.assign(() => 'skipped', conditions, { skip: ran })
  return ran
}

test('what is left to the night stays so under a condition that holds', () => {
  const left = wholeOnly(fakeTest(), 'depth')
  const expected = atDepth('ran', 'skipped')
  expect([left(), left.skipIf(false)(), left.runIf(true)()]).toEqual([expected, expected, expected])
})
