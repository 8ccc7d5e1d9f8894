// A flood of registrations from a process of its own, each with a well-formed signature of another identity: the relay has to
// recover its signer to find out. It begins and pauses as its parent says, then reports how many answers it got, and ends with
// its parent.
import { constants, setPriority } from 'node:os'
import { PATH, type RegisterChallengeResponse } from '@svc/protocol'
import { dataOf, newIdentity, RelayApi } from '../../tools/relay/api-client.ts'

const SENDERS = 8
const REFUSED = 403
const RATE_LIMITED = 429

// An attacker has another machine: here the flood must not take the processor from the relay.
setPriority(constants.priority.PRIORITY_LOW)

const [, , url, ca] = process.argv
const api = new RelayApi(url!, ca!, SENDERS)
const identity = newIdentity()
const siwe_signature = newIdentity().personalSign('another message')
let isFlooding = false
let answered = 0
let begin = Promise.withResolvers<void>()

process.on('message', (message: 'begin' | 'pause') => {
  isFlooding = message === 'begin'
  if (isFlooding) return begin.resolve()
  begin = Promise.withResolvers()
  process.send?.(answered)
  answered = 0
})
process.on('disconnect', () => process.exit())
for (let sender = 0; sender < SENDERS; sender++) void flood(`sender-${sender}`)

async function flood(name: string): Promise<void> {
  for (;;) {
    if (!isFlooding) await begin.promise
    const challenged = await api.post(PATH.registerChallenge, {
      identity: { name, address: identity.address },
    })
    answered += 1
    if (challenged.status === RATE_LIMITED) continue
    const { challenge_id, siwe_message } = dataOf<RegisterChallengeResponse>(challenged)
    const { status, text } = await api.post(PATH.register, { challenge_id, siwe_message, siwe_signature })
    answered += 1
    if (status !== REFUSED && status !== RATE_LIMITED) throw new Error(`${status} ${text}`)
  }
}
