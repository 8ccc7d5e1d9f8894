// Random histories of three machines that are one relay, with a Redis, machines and links that fail in between, against the
// rules that hold whatever happens. Time is Redis's own, so that none passes here but what the commands take.

import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PolicyStateResponse, RegisterResponse } from '@svc/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import fc from '../../../tools/fast-check.ts'
import { ADMIN, type ClusterRelays, startClusterRelays, untilLinked } from '../support/cluster-relays.ts'

const MACHINES = 3
const STEPS_MAX = 12
const COMMANDS_MAX = 4
/** Time within which all machines agree once nothing fails any more. */
const SETTLE_MS = 20_000
const LOOK_MS = 25
/** Time within which a machine hears from Redis what another one has registered. */
const LATE_MS = 1_000
const ACCOUNTS = [1, 2, 3].map((n) => privateKeyToAccount(`0x${String(n).padStart(64, '0')}`))
const EVERYBODY = ACCOUNTS.flatMap((account) => ['one', 'two'].map((name) => ({ name, account })))

type Command =
  | { do: 'register'; at: number; who: number }
  | { do: 'renew' | 'reverse' | 'unregister'; at: number; which: number }

/** What fails while the commands of a step are carried out, and works again behind them. */
type Fault =
  | { kind: 'none' }
  | { kind: 'redis'; losesData: boolean }
  | { kind: 'crash' | 'link' | 'redis-way' | 'island'; machine: number }

interface Step {
  fault: Fault
  /** Whether the commands are carried out at once. */
  atOnce: boolean
  commands: Command[]
}

interface Issued {
  key: string
  token: string
  /** The number of the step in which it was given out. */
  step: number
  /** `maybe`: a registration that failed, or one at the same moment, may have replaced it. */
  state: 'active' | 'over' | 'maybe'
}

/** What must hold, as far as the answers said. */
class Rules {
  readonly issued: Issued[] = []
  /** The identity that has each name. No history is long enough for it to be anybody else's. */
  readonly owners = new Map<string, string>()
  /** Identities that may have got a name by a registration that failed. */
  readonly #maybe = new Map<string, Set<string>>()

  /** @param hasRivals whether the identity registers more than once at this moment: nobody knows which one is the last */
  registered(
    key: string,
    name: string,
    { access_token, hostname }: RegisterResponse,
    step: number,
    hasRivals: boolean,
  ): void {
    for (const issued of this.issued)
      if (issued.key === key && !(hasRivals && issued.step === step)) issued.state = 'over'
    this.issued.push({ key, token: access_token, step, state: hasRivals ? 'maybe' : 'active' })
    if (hostname === '') return
    const owner = this.owners.get(name)
    if (owner !== undefined) strictEqual(key, owner, `${name} belongs to ${owner}`)
    this.owners.set(name, key)
  }

  failed(key: string, name: string): void {
    for (const issued of this.issued)
      if (issued.key === key && issued.state === 'active') issued.state = 'maybe'
    const maybe = this.#maybe.get(name) ?? new Set()
    this.#maybe.set(name, maybe.add(key))
  }

  /** Whether somebody else has the name, or may have it. */
  mayConflict(key: string, name: string): boolean {
    const owner = this.owners.get(name)
    if (owner !== undefined) return owner !== key
    return [...(this.#maybe.get(name) ?? [])].some((other) => other !== key)
  }
}

class History {
  readonly #cluster: ClusterRelays
  readonly #rules = new Rules()
  #step = 0
  #fault: Fault = { kind: 'none' }
  /** Identities that register more than once in this step, at once. */
  #rivals = new Set<number>()

  constructor(cluster: ClusterRelays) {
    this.#cluster = cluster
  }

  async run({ fault, atOnce, commands }: Step): Promise<void> {
    const crashed = fault.kind === 'crash' ? fault.machine : undefined
    const heal = await this.#fail(fault)
    const isSound = fault.kind === 'none' && !atOnce
    const todo = commands.filter(({ at }) => at !== crashed)
    const wanted = todo.flatMap((one) => (one.do === 'register' ? [one.who] : []))
    this.#step += 1
    this.#fault = fault
    this.#rivals = new Set(atOnce ? wanted.filter((who, index) => wanted.indexOf(who) !== index) : [])
    // What ends a lease may come before.
    const mayEnd = atOnce && todo.some((one) => one.do === 'register' || one.do === 'unregister')
    if (atOnce) await Promise.all(todo.map((command) => this.#do(command, isSound, mayEnd)))
    else for (const command of todo) await this.#do(command, isSound, mayEnd)
    await heal()
    await untilLinked(this.#cluster.relays)
    await this.#settle()
  }

  async #fail(fault: Fault): Promise<() => Promise<void>> {
    const { redis, relays, add } = this.#cluster
    if (fault.kind === 'none') return async () => {}
    if (fault.kind === 'redis') {
      await redis.kill()
      return () => redis.restart({ withoutData: fault.losesData })
    }
    const machine = relays[fault.machine]!
    const { link, redisWay } = machine
    const ways = {
      crash: [link, redisWay],
      island: [link, redisWay],
      link: [link],
      'redis-way': [redisWay],
    }
    for (const way of ways[fault.kind]) {
      way.isDown = true
      way.cut()
    }
    // Nobody hears of its end, as of that of a process that is killed.
    if (fault.kind === 'crash') await machine.stop()
    return async () => {
      for (const way of ways[fault.kind]) way.isDown = false
      if (fault.kind === 'crash') await add({}, machine)
    }
  }

  async #do(command: Command, isSound: boolean, mayEnd: boolean): Promise<void> {
    if (command.do === 'register') return await this.#register(command)
    const { issued } = this.#rules
    const lease = issued[command.which % Math.max(1, issued.length)]
    if (lease === undefined) return
    const before = lease.state
    const { status } = await this.#askSettled(command.at, command.do, lease)
    // A machine that hears from nobody cannot tell which leases there are.
    const isDeaf = status === 503 && this.#fault.kind === 'island' && this.#fault.machine === command.at
    if (before === 'active' && !mayEnd && !isDeaf) strictEqual(status, 200, `${command.do} of ${lease.key}`)
    if (before === 'over' && isSound) strictEqual(status, 404, `${command.do} of an ended ${lease.key}`)
    if (command.do === 'unregister' && status === 200) lease.state = 'over'
  }

  async #register({ at, who }: Command & { do: 'register' }): Promise<void> {
    const { name, account } = EVERYBODY[who]!
    const key = `${name}:${account.address.toLowerCase()}`
    try {
      const lease = await this.#cluster.relays[at]!.register(name, { account })
      this.#rules.registered(key, name, lease, this.#step, this.#rivals.has(who))
    } catch (error) {
      const { message } = error as Error
      if (message.includes('hostname_conflict')) {
        // Who registers at the same moment may have the name by now.
        await sleep(0)
        strictEqual(
          this.#rules.mayConflict(key, name) || this.#rules.owners.get(name) === undefined,
          true,
          `${key} has ${name}`,
        )
      } else if (/feature_unavailable|lease_not_found|unauthorized/.test(message))
        this.#rules.failed(key, name)
      else throw error
    }
  }

  /**
   * Asks again where a machine may know more in a moment: it hears of a new lease from Redis alone, or has just found the
   * redis again.
   */
  async #askSettled(at: number, what: string, issued: Issued): Promise<{ status: number }> {
    const isLate = this.#fault.kind === 'link' && this.#fault.machine === at && issued.step === this.#step
    const until = performance.now() + LATE_MS
    for (;;) {
      const answer = await this.#ask(at, what, issued)
      const isAsked = isLate && issued.state === 'active' ? answer.status !== 200 : this.#isBlip(answer)
      if (!isAsked || performance.now() > until) return answer
      await sleep(LOOK_MS)
    }
  }

  #isBlip({ status }: { status: number }): boolean {
    return this.#fault.kind === 'none' && status === 503
  }

  async #ask(at: number, what: string, { token }: Issued): Promise<{ status: number }> {
    return await this.#cluster.relays[at]!.call('POST', `/sdk/${what}`, { access_token: token })
  }

  /** Waits until the rules hold at all machines. @throws AssertionError of the first that does not */
  async #settle(): Promise<void> {
    const until = performance.now() + SETTLE_MS
    for (;;) {
      try {
        await this.#check()
        return
      } catch (error) {
        if (performance.now() > until) throw error
        await sleep(LOOK_MS)
      }
    }
  }

  async #check(): Promise<void> {
    const { relays } = this.#cluster
    const lists = await Promise.all(
      relays.map(async (relay) => {
        const { data } = (await relay.call('GET', '/api/policy/state', undefined, ADMIN)).json
        const { leases } = data as unknown as PolicyStateResponse
        return leases.map(({ identity_key, hostname }) => `${hostname} ${identity_key}`).sort()
      }),
    )
    for (const list of lists) deepStrictEqual(list, lists[0], 'the machines know different leases')
    const hostnames = lists[0]!.map((entry) => entry.split(' ')[0])
    strictEqual(new Set(hostnames).size, hostnames.length, `two have one name: ${lists[0]}`)
    const active = new Set<string>()
    for (const issued of this.#rules.issued) {
      const answers = await Promise.all(relays.map((_, at) => this.#ask(at, 'reverse', issued)))
      const statuses = answers.map(({ status }) => status).join()
      const expected = issued.state === 'over' ? '404,404,404' : '200,200,200'
      if (statuses.includes('200')) {
        strictEqual(active.has(issued.key), false, `${issued.key} has two leases`)
        active.add(issued.key)
      }
      if (issued.state === 'maybe')
        strictEqual(['404,404,404', '200,200,200'].includes(statuses), true, statuses)
      else strictEqual(statuses, expected, `${issued.state} lease of ${issued.key}`)
    }
  }
}

const machine = fc.nat(MACHINES - 1)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      at: machine,
      who: fc.nat(EVERYBODY.length - 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('renew' as const, 'reverse' as const, 'unregister' as const),
      at: machine,
      which: fc.nat(30),
    }),
  },
)
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: 'none' }),
  fc.record({ kind: fc.constant('redis' as const), losesData: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom('crash' as const, 'link' as const, 'redis-way' as const, 'island' as const),
    machine,
  }),
)
const step: fc.Arbitrary<Step> = fc.record({
  fault,
  atOnce: fc.boolean(),
  commands: fc.array(command, { minLength: 1, maxLength: COMMANDS_MAX }),
})

/** @throws Error that shows the history that fails, and the seed that repeats its choices */
export async function runMachines(runs: number, seed: number, steps: number = STEPS_MAX): Promise<void> {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: steps, maxLength: steps }),
    async (history) => {
      const cluster = await startClusterRelays(MACHINES)
      try {
        const real = new History(cluster)
        for (const [at, one] of history.entries())
          await real.run(one).catch((error) => {
            throw new Error(`step ${at + 1}: ${(error as Error).message}`, { cause: error })
          })
      } finally {
        await cluster.close()
      }
    },
  )
  // A shorter history that fails, too, would cost many more.
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true })
}
