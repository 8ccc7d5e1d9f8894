// The pages of the relay, of the agent and of the examples say the same of a site that waits.

import { expect, test } from 'vitest'
import { waitingText as ofExamples } from '../../examples/shared/waiting.ts'
import { waitingText } from '../../relay/web/src/texts/site-states.ts'

test.each(['approval', 'rate_limited', 'relay_full', 'certificate'] as const)('%s', (reason) => {
  expect(ofExamples({ reason, until: undefined })).toBe(waitingText(reason, undefined))
  const until = Date.now()
  const next = `at ${new Date(until).toLocaleTimeString()}`
  expect(ofExamples({ reason, until })).toBe(waitingText(reason, next))
})
