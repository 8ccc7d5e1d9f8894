// A process of attackers: gets the name of an attack's file as its argument, says when it is ready, gets what it attacks as
// a message, answers with the facts, and ends. Its parent ends it when that takes too long.
import { getPriority, setPriority } from 'node:os'
import { randomOf } from '../soak/random.ts'
import type { ClientAttack } from './attack.ts'
import type { Target } from './target.ts'

export interface Order {
  target: Target
  seconds: number
  seed: number
}

/** Attackers have machines of their own: here they get a third of a processor where honest visitors need it, too. */
const NICE = 5

setPriority(getPriority() + NICE)
const { attack }: { attack: ClientAttack } = await import(`./${process.argv[2]}.ts`)
process.once('disconnect', () => process.exit(1))
process.once('message', async ({ target, seconds, seed }: Order) => {
  const facts = await attack.run(target, () => Date.now() + seconds * 1000, randomOf(seed))
  process.send?.(facts, () => process.exit(0))
})
process.send?.('ready')
