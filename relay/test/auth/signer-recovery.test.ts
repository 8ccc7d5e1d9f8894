// Tests signer recovery: its results, its bounds, and that it goes on when its thread breaks.

import { afterEach, expect, test, vi } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { recoverSigner } from '../../src/core/auth/ethereum-signature.ts'
import { SignerRecovery } from '../../src/core/auth/signer-recovery.ts'
import type { ThreadCode } from '../../src/core/installation.ts'
import { newAccount } from '../support/relay.ts'

const broken = (script: string): ThreadCode => ({
  script: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
  options: {},
})

/** Recoveries whose processor time is compared. */
const MEASURED: number = atDepth(100, 30)

let recovery: SignerRecovery
const make = (code?: ThreadCode) => {
  recovery = new SignerRecovery(code)
  return recovery
}
afterEach(() => {
  vi.useRealTimers()
  return recovery.close()
})

async function signed(message: string) {
  const account = newAccount()
  return {
    message,
    signature: await account.signMessage({ message }),
    address: account.address.toLowerCase(),
  }
}

test('each question gets its own answer, and hardly any of the work is done in the thread that carries the visitors', async () => {
  const { recover } = bound(make())
  const [first, second] = [await signed('first'), await signed('second')]
  expect(
    await Promise.all([
      recover(first.message, first.signature),
      recover(second.message, second.signature),
      recover(second.message, 'nonsense'),
      recover(first.message, `0x${'00'.repeat(65)}`),
    ]),
  ).toEqual([first.address, second.address, undefined, undefined])
  expect(await recover(first.message, second.signature)).not.toBe(first.address)

  const cost = async (recoverOnce: typeof recover) => {
    await recoverOnce(first.message, first.signature)
    const before = process.threadCpuUsage()
    await Promise.all(Array.from({ length: MEASURED }, () => recoverOnce(first.message, first.signature)))
    return process.threadCpuUsage(before).user
  }
  expect(await cost(recover)).toBeLessThan((await cost(async (...signed) => recoverSigner(...signed))) / 3)

  const refused = expect(recover(first.message, first.signature)).rejects.toThrow('the relay is closing')
  await recovery.close()
  await refused
})

test('256 may wait; one more is told to come back', async () => {
  const { recover } = bound(
    make(broken("import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => {})")),
  )
  const waiting = Array.from({ length: 256 }, () => recover('', ''))
  expect(() => recover('', '')).toThrow(
    expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '1' } }),
  )
  const settled = Promise.allSettled(waiting)
  await recovery.close()
  expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
})

test('a thread that hangs is ended after 10 s, and the next question starts another', async () => {
  const script = `
    import { parentPort, threadId } from 'node:worker_threads'
    parentPort.on('message', ({ id, message }) => {
      if (message === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      parentPort.postMessage({ id, address: 'thread ' + threadId })
    })`
  const { recover } = bound(make(broken(script)))
  const before = await recover('', '')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isOver = false
  const outcomes = Promise.allSettled([recover('hang', '').finally(() => (isOver = true)), recover('', '')])
  await vi.advanceTimersByTimeAsync(9_999)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  vi.useRealTimers()
  const hangs = { status: 'rejected', reason: { message: 'the recovery thread hangs' } }
  expect(await outcomes).toMatchObject([hangs, hangs])
  const after = await recover('', '')
  expect(after).toMatch(/^thread \d+$/)
  expect(after).not.toBe(before)
})

test('a thread that answers a crowd slowly is not ended: the time of each begins when it is its turn', async () => {
  const script = `
    import { parentPort } from 'node:worker_threads'
    const waiting = []
    parentPort.on('message', ({ id, message }) => {
      if (message === 'wait') return waiting.push(id)
      parentPort.postMessage({ id: waiting.shift() })
      parentPort.postMessage({ id })
    })`
  const { recover } = bound(make(broken(script)))
  await recover('', '')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const crowd = Array.from({ length: 5 }, () => recover('wait', ''))
  for (const one of crowd) {
    await vi.advanceTimersByTimeAsync(9_000)
    await recover('', '')
    expect(await one).toBeUndefined()
  }
})

test('a thread that never answers is ended after 30 s, since a slow machine takes long to load its code', async () => {
  const { recover } = bound(
    make(broken("import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => {})")),
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isOver = false
  const outcome = expect(recover('', '').finally(() => (isOver = true))).rejects.toThrow('hangs')
  await vi.advanceTimersByTimeAsync(29_999)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await outcome
})

test.each([
  ['throws', "throw new Error('oops')"],
  ['exits', 'process.exit(0)'],
])('a thread that %s is replaced', async (_name, misdeed) => {
  const script = `
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ id, message }) => {
      if (message === 'break') ${misdeed}
      parentPort.postMessage({ id, address: 'fine' })
    })`
  const { recover } = bound(make(broken(script)))
  await expect(recover('break', '')).rejects.toThrow('the recovery thread broke')
  expect(await recover('', '')).toBe('fine')
})

test('a thread that nobody asks for a minute ends, and the next one to register starts another', async () => {
  const script = `
    import { parentPort, threadId } from 'node:worker_threads'
    parentPort.on('message', ({ id }) => parentPort.postMessage({ id, address: String(threadId) }))`
  const { recover } = bound(make(broken(script)))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const first = await recover('', '')
  await vi.advanceTimersByTimeAsync(59_999)
  expect(await recover('', '')).toBe(first)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await recover('', '')).not.toBe(first)
})

function bound(it: SignerRecovery) {
  return { recover: (message: string, signature: string) => it.recover(message, signature) }
}
