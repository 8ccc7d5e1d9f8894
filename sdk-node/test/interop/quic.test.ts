// The datagram tunnel with QUIC implementations that are not ours; `npm run interop -- quic-go deno` fetches what is missing.

import { describe, test } from 'vitest'
import { PEERS } from './peers.ts'
import { ROLES } from './roles.ts'

describe.each(PEERS)('$name', ({ install, find }) => {
  test.for(Object.entries(ROLES))('as the %s', async ([, play], { skip }) => {
    const found = await find(false)
    if (found === undefined) return skip(`it is not there: ${install}`)
    await play(found)
  })
})
