// Two runs of a program that are one exchange: the second one's outcome counts.

import type { Exchange } from './client.ts'

export function twice(first: () => Exchange, second: () => Exchange): Exchange {
  let current = first()
  const outcome = current.outcome.then(() => {
    current = second()
    return current.outcome
  })
  return { outcome, leave: () => current.leave() }
}
